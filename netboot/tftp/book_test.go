package tftp

import (
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBook: whatever is asked, ended and left, no more run and wait than may, of each client
// no more than its share, who waits has its turn in the order of asking, and nobody waits
// while there is room.
func TestBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{Transfers: rapid.IntRange(1, 3).Draw(t, "transfers"), PerClient: rapid.IntRange(1, 4).Draw(t, "per client"), Buffered: 1}
		b := newBook(l)
		now := time.Unix(1e9, 0)
		var running []*transfer
		var order []netip.AddrPort // of those that wait
		last := make(map[netip.AddrPort]time.Time)
		turns := func() {
			for of := b.turn(now); of != nil; of = b.turn(now) {
				for len(order) > 0 && now.Sub(last[order[0]]) > maxWait {
					order = order[1:]
				}
				if len(order) == 0 || order[0] != of.parties.remote {
					t.Fatalf("the turn of %s, in line are %v", of.parties.remote, order)
				}
				order = order[1:]
				running = append(running, of)
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "seconds")) * time.Second)
			if rapid.Bool().Draw(t, "ends") && len(running) > 0 {
				i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				b.leave(running[i].entry)
				running = append(running[:i], running[i+1:]...)
				turns()
			} else {
				peer := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(rapid.IntRange(1, 3).Draw(t, "client"))}), uint16(rapid.IntRange(1, 3).Draw(t, "port")))
				request := []byte{byte(rapid.IntRange(0, 1).Draw(t, "file"))}
				w := b.waiting[peer]
				repeated, room := b.look(peer, request, now)
				if w != nil && w == b.waiting[peer] && w.request == string(request) {
					last[peer] = now
				}
				for len(order) > 0 && now.Sub(last[order[0]]) > maxWait {
					order = order[1:]
				}
				of := &transfer{parties: parties{remote: peer}}
				switch o := admit(kindRead, true, true, true, repeated, room); o { //nolint:exhaustive // of a good request
				case outcomeServe:
					of.entry = b.enter(peer, request)
					running = append(running, of)
				case outcomeWait:
					if b.waiting[peer] == nil {
						order = append(order, peer)
					}
					last[peer] = now
					b.wait(of, request, now)
					turns()
				}

			}
			total, _ := b.inFlight()
			if total != len(running) || total > l.Transfers || b.inLine() > l.Transfers || b.inLine() != len(b.waiting) || b.inLine() > 0 && total < l.Transfers {
				t.Fatalf("%d run, %d wait, of %+v", total, b.inLine(), l)
			}
			clients := make(map[netip.Addr]int)
			for _, of := range running {
				clients[of.parties.remote.Addr()]++
			}
			for peer := range b.waiting {
				clients[peer.Addr()]++
			}
			for client, n := range clients {
				if n != b.clients[client] || n > l.PerClient {
					t.Fatalf("%s has %d, counted are %d of %d", client, n, b.clients[client], l.PerClient)
				}
			}
		}
		b.dismiss()
		for _, of := range running {
			b.leave(of.entry)
		}
		if len(b.clients) != 0 || len(b.waiting) != 0 || len(b.peers) != 0 || b.inLine() != 0 {
			t.Fatalf("left are %v, %v, %v", b.clients, b.waiting, b.peers)
		}
	})
}
