package dhcp6

import (
	"net/netip"
	"testing"

	"rackboot/protocol"
)

// TestListen: where it does not listen.
func TestListen(t *testing.T) {
	for _, row := range []struct {
		at, device string
		want       protocol.Code
	}{
		{"[::1]:0", "", ""},
		{"[::]:547", "", protocol.CodeInvalid},
		{"127.0.0.1:547", "lo", protocol.CodeInvalid},
		{"[::ffff:127.0.0.1]:547", "", protocol.CodeInvalid},
		{"[::]:0", "none0", protocol.CodeNotFound},
	} {
		p, err := listen(netip.MustParseAddrPort(row.at), row.device)
		if err == nil {
			_ = p.Close()
		}
		if got := protocol.CodeOf(err); got != row.want {
			t.Errorf("%s on %q: %q (%v), want %q", row.at, row.device, got, err, row.want)
		}
	}
}
