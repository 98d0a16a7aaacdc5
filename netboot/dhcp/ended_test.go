package dhcp

import (
	"slices"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
)

// TestEnded: each way in which a machine loses its address is told once, with the
// machine, and a stranger's word ends nothing.
func TestEnded(t *testing.T) {
	const ours, moved = "10.99.0.1", "10.99.0.9"
	for _, row := range []struct {
		name string
		lose func(w *world, a string)
		want bool
	}{
		{"released", func(w *world, a string) {
			w.send(t, client(dhcpv4.MessageTypeRelease, mac1, ciaddr(a), withIP(54, ours)))
		}, true},
		{"released by a stranger", func(w *world, a string) {
			w.send(t, client(dhcpv4.MessageTypeRelease, mac2, ciaddr(a), withIP(54, ours)))
		}, false},
		{"declined", func(w *world, a string) {
			w.send(t, client(dhcpv4.MessageTypeDecline, mac1, withIP(50, a), withIP(54, ours)))
		}, true},
		{"moved to a reservation", func(w *world, _ string) {
			r, err := netboot.NewReservations([]netboot.Reservation{{Address: addr(moved), MAC: mac1}})
			if err != nil {
				t.Fatal(err)
			}
			w.resolver.svc.Reservations = r
			if b := w.bind(t, mac1); b != moved {
				t.Fatalf("it got %s", b)
			}
		}, true},
		{"renewed", func(w *world, _ string) { w.bind(t, mac1) }, false},
	} {
		w := newWorld(t, lease1())
		var ended []string
		w.cfg.Ended = func(l netboot.Lease) { ended = append(ended, l.Address.String()+" "+l.MAC) }
		a := w.bind(t, mac1)
		row.lose(w, a)
		var want []string
		if row.want {
			want = []string{a + " " + mac1}
		}
		if !slices.Equal(ended, want) {
			t.Errorf("%s: told of %v, want %v", row.name, ended, want)
		}
	}
}
