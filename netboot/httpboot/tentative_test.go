//go:build host

package httpboot

import (
	"net/netip"
	"strings"
	"testing"

	"rackboot/integration/netns"
	"rackboot/protocol"
)

// TestTentative: a server starts on an address that was just added, or whose interface
// has no carrier, and not on one that the host does not have.
func TestTentative(t *testing.T) {
	ns, err := netns.New(t.Context(), "tentative")
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	for _, parameter := range []string{"ipv6/conf/all/disable_ipv6", "ipv6/conf/default/disable_ipv6"} {
		if err := ns.Set(parameter, "0"); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"ip tuntap add dev boot0 mode tap", "ip link set boot0 up", "ip address add 2001:db8::1/64 dev boot0"} {
		if err := ns.Run(t.Context(), line); err != nil {
			t.Fatal(err)
		}
	}
	out, err := ns.Output(t.Context(), "ip address show dev boot0")
	if err != nil || !strings.Contains(out, "tentative") {
		t.Fatalf("the address is not tentative: %s, %v", out, err)
	}
	for at, want := range map[string]protocol.Code{"[2001:db8::1]:80": "", "[2001:db8::2]:80": protocol.CodeUnavailable} {
		err := ns.Do(func() error {
			s, err := New(Config{Listen6: netip.MustParseAddrPort(at), Files: &dirFiles{}, Evidence: &memEvidence{}})
			if err == nil {
				err = s.listeners[0].Close()
			}
			return err
		})
		if got := protocol.CodeOf(err); got != want {
			t.Errorf("%s: %q (%v), want %q", at, got, err, want)
		}
	}
}
