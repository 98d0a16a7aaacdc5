package dhcp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

const (
	// optIPXE is option 175, in which iPXE encapsulates its features.
	optIPXE = dhcpv4.GenericOptionCode(175)

	prefixHTTPClient = "HTTPClient" // UEFI 2.5 section 24.7, option 60
	prefixPXEClient  = "PXEClient"  // PXE 2.1 section 2.2.3, option 60
	userClassIPXE    = "iPXE"       // option 77 of iPXE
)

// Classify says what kind of boot client sent the packet. iPXE comes first: it
// says PXEClient in option 60 like the ROM that loaded it, and answering it as
// that ROM loops. Then option 60 alone decides; option 93 is not asked, because
// firmware sends the wrong architecture more often than the wrong class. The
// match is by prefix: a repeated option 60 arrives concatenated (RFC 3396).
func Classify(p *dhcpv4.DHCPv4) protocol.ClientClass {
	if isIPXE(p) {
		return protocol.ClassIPXE
	}
	class := string(p.Options.Get(dhcpv4.OptionClassIdentifier))
	switch {
	case strings.HasPrefix(class, prefixHTTPClient):
		return protocol.ClassHTTPClient
	case strings.HasPrefix(class, prefixPXEClient):
		return protocol.ClassPXEClient
	}
	return protocol.ClassNone
}

// isIPXE looks for the user class in the form that iPXE sends (raw, without the
// length byte of RFC 3004), in RFC 3004 form, and for option 175, which FlexBoot
// sends without a user class.
func isIPXE(p *dhcpv4.DHCPv4) bool {
	if len(p.Options.Get(optIPXE)) > 0 {
		return true
	}
	user := p.Options.Get(dhcpv4.OptionUserClassInformation)
	if string(user) == userClassIPXE {
		return true
	}
	for len(user) > 0 {
		n := int(user[0])
		if n == 0 || n > len(user)-1 {
			return false
		}
		if string(user[1:1+n]) == userClassIPXE {
			return true
		}
		user = user[1+n:]
	}
	return false
}

// archs reads option 93, a list of 16-bit architecture types (RFC 4578 section
// 2.1). An odd length is a broken client: what is whole is read.
func archs(p *dhcpv4.DHCPv4) []uint16 {
	raw := p.Options.Get(dhcpv4.OptionClientSystemArchitectureType)
	var out []uint16
	for ; len(raw) >= 2; raw = raw[2:] {
		out = append(out, binary.BigEndian.Uint16(raw))
	}
	return out
}

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
