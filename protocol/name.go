package protocol

// ValidName says whether s may be the name of a resource or the id of an agent:
// 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit. Such
// a name is one level of a topic, without wildcards, one of a store key, and one DNS label.
func ValidName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0 || i == len(s)-1) {
			return false
		}
	}
	return s != "" && len(s) <= 63
}
