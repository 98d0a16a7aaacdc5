package protocol

// ValidName says whether s may be the name of a resource or the id of an agent:
// 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit. Such
// a name is one level of a topic, without wildcards, and one DNS label.
func ValidName(s string) bool { return validName(s) }
