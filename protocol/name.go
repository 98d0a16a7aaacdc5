package protocol

import "net"

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

// ValidUUID says whether a text is a UUID in lower case.
func ValidUUID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 36
}

// InterfaceMAC is a MAC address in the form of Server's; empty if it is of no
// interface: a group's, all zero, or none at all.
func InterfaceMAC(s string) string {
	hw, err := net.ParseMAC(s)
	if err != nil || len(hw) != 6 || hw[0]&1 == 1 || hw.String() == "00:00:00:00:00:00" {
		return ""
	}
	return hw.String()
}
