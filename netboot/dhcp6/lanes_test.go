package dhcp6

import (
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot/leasing"
)

// TestWrites: whose answers may wait for the disk, RFC 8415 section 18.3.
func TestWrites(t *testing.T) {
	for _, rapid := range []bool{false, true} {
		w := newWorld(t, boot1())
		w.resolver.seg.RapidCommit = rapid
		for kind, want := range map[dhcpv6.MessageType]bool{
			dhcpv6.MessageTypeSolicit: rapid, dhcpv6.MessageTypeInformationRequest: false,
			dhcpv6.MessageTypeRequest: true, dhcpv6.MessageTypeRenew: true, dhcpv6.MessageTypeRebind: true, dhcpv6.MessageTypeConfirm: true,
			dhcpv6.MessageTypeRelease: true, dhcpv6.MessageTypeDecline: true,
			0: true, // behind a relay
		} {
			if w.Writes(leasing.Asker{Kind: byte(kind)}) != want {
				t.Errorf("rapid commit %v: %s writes: %v", rapid, kind, !want)
			}
		}
	}
}
