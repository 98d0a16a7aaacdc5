package protocol

import "strings"

// SwapUUID is a UUID with its first three groups in the other byte order: SMBIOS
// stores them little-endian, and firmware sends them either way in option 97. It
// is empty for what is not as long as a UUID.
func SwapUUID(uuid string) string {
	b := []byte(uuid)
	if len(b) != 36 {
		return ""
	}
	for _, g := range [][2]int{{0, 8}, {9, 13}, {14, 18}} {
		for i, j := g[0], g[1]-2; i < j; i, j = i+2, j-2 {
			b[i], b[i+1], b[j], b[j+1] = b[j], b[j+1], b[i], b[i+1]
		}
	}
	return string(b)
}

// SameUUID reports whether both are the same UUID, in either byte order of the first three
// groups. One that is empty is none.
func SameUUID(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a != "" && (a == b || a == SwapUUID(b))
}

// TellsMachine reports whether a UUID that a BMC or somebody gives for a system may be
// compared with what its firmware sends in DHCP option 97. All zeros and all ones name no
// machine. Supermicro makes the system's UUID of its BMC's address, as
// 00000000-0000-0000-0000-3cecef000001, which the firmware does not know.
func TellsMachine(uuid string) bool {
	digits := strings.ReplaceAll(strings.ToLower(uuid), "-", "")
	if len(uuid) != 36 || strings.Trim(digits, "0") == "" || strings.Trim(digits, "f") == "" {
		return false
	}
	return strings.Trim(digits[:20], "0") != ""
}
