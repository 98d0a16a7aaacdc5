package dhcp

import (
	"bytes"
	"fmt"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// machineUUID reads option 97: type 0 and 16 bytes (RFC 4578 section 2.3).
// QEMU without -uuid sends all zero, boards without SMBIOS data all ones: none.
func machineUUID(p *dhcpv4.DHCPv4) string {
	raw := p.Options.Get(dhcpv4.OptionClientMachineIdentifier)
	if len(raw) != 17 || raw[0] != 0 {
		return ""
	}
	u := raw[1:]
	if bytes.Count(u, []byte{0}) == len(u) || bytes.Count(u, []byte{0xff}) == len(u) {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// portName is protocol.BootClient.Port: the remote and circuit ID of option 82.
func portName(relay dhcpv4.Options) string {
	remote, circuit := printable(relay[subRemoteID]), printable(relay[subCircuitID])
	if remote != "" && circuit != "" {
		return remote + "/" + circuit
	}
	return remote + circuit
}

// printable is the value as text, or 0x and hexadecimal digits if it is not.
func printable(v []byte) string {
	for _, b := range v {
		if b < ' ' || b > '~' {
			return fmt.Sprintf("0x%x", v)
		}
	}
	return string(v)
}
