package dhcp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

// FuzzConversation: whatever clients send one after another, no two of them are granted
// one address, what is granted is ours to give and was on disk before, and a client
// that is told an address twice is told the same. The input is packets, each with two
// bytes before it: its length, with the seconds until it comes in the highest six bits.
func FuzzConversation(f *testing.F) {
	join := func(wait byte, all ...*dhcpv4.DHCPv4) (out []byte) {
		for _, p := range all {
			raw := p.ToBytes()
			out = append(append(out, wait<<2|byte(len(raw)>>8), byte(len(raw))), raw...)
		}
		return out
	}
	selecting := func(mac, ip string) *dhcpv4.DHCPv4 { return client(asking, mac, withIP(54, ours), withIP(50, ip)) }
	f.Add(join(0, client(dhcpv4.MessageTypeDiscover, mac1), selecting(mac1, offered1), client(dhcpv4.MessageTypeDiscover, mac2), selecting(mac2, offered1)))
	f.Add(join(60, client(dhcpv4.MessageTypeDiscover, mac1), selecting(mac1, offered1), client(dhcpv4.MessageTypeRelease, mac1, ciaddr(offered1), withIP(54, ours)), client(asking, mac2, ciaddr(offered1))))
	f.Add(join(60, client(dhcpv4.MessageTypeDiscover, mac1), selecting(mac1, offered1), client(dhcpv4.MessageTypeDecline, mac1, withIP(54, ours), withIP(50, offered1)), client(dhcpv4.MessageTypeDiscover, mac1), client(asking, mac2, ciaddr(offered1), flagged)))
	f.Add(join(1, client(asking, mac1, ciaddr("10.99.0.10")), client(asking, mac2, ciaddr("10.99.0.10")), client(dhcpv4.MessageTypeDiscover, mac1)))
	reserved := reserve(f, netboot.Reservation{Address: addr("10.99.0.10"), MAC: mac1})
	f.Fuzz(func(t *testing.T, in []byte) {
		w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerLease, Server: "s1"})
		w.resolver.svc.Reservations = reserved
		type grant struct {
			mac string
			end time.Time
		}
		granted := map[netip.Addr]grant{}
		for len(in) >= 2 {
			n := min(int(in[0]&3)<<8|int(in[1]), len(in)-2)
			w.clock = w.clock.Add(time.Duration(in[0]>>2) * time.Second)
			raw := in[2 : 2+n]
			in = in[2+n:]
			out := w.respond(t.Context(), raw, testPeer, false)
			request, err := decode(raw)
			if err != nil {
				continue
			}
			mac := request.ClientHWAddr.String()
			switch request.MessageType() { // what the client gives back, it does not have
			case dhcpv4.MessageTypeRelease, dhcpv4.MessageTypeDecline:
				for a, g := range granted {
					if g.mac == mac {
						delete(granted, a)
					}
				}
			default:
			}
			if out.raw == nil {
				continue
			}
			reply, err := dhcpv4.FromBytes(out.raw)
			if err != nil {
				t.Fatal(err)
			}
			a := addr4(reply.YourIPAddr.To4())
			if !a.IsValid() {
				continue
			}
			if !usable(w.resolver.seg, a) && (a != addr("10.99.0.10") || mac != mac1) {
				t.Fatalf("%s is told %s", mac, a)
			}
			if g, ok := granted[a]; ok && g.mac != mac && w.clock.Before(g.end) {
				t.Fatalf("%s and %s are told %s", g.mac, mac, a)
			}
			if reply.MessageType() != dhcpv4.MessageTypeAck {
				continue
			}
			l, ok := w.leases.get(a.String())
			if !ok || l.MAC != mac || l.Expires.Before(w.clock) {
				t.Fatalf("granted %s to %s, on disk is %+v", a, mac, l)
			}
			granted[a] = grant{mac, w.clock.Add(reply.IPAddressLeaseTime(0))}
		}
	})
}
