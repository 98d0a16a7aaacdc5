package redfish

import "strings"

// uuidProblem says why a UUID names no single server. Supermicro's ends in the
// BMC's MAC address and begins with zeroes: SMBIOS, and so the firmware's DHCP
// packets, may carry another.
func uuidProblem(uuid string) string {
	digits := strings.ReplaceAll(uuid, "-", "")
	switch {
	case digits == "":
		return "there is none"
	case len(digits) != 32 || strings.Trim(digits, "0123456789abcdef") != "":
		return "it is no UUID"
	case strings.Trim(digits, "0") == "" || strings.Trim(digits, "f") == "":
		return "it is empty"
	case strings.HasPrefix(digits, strings.Repeat("0", 20)):
		return "it is made from a MAC address of the BMC"
	}
	return ""
}
