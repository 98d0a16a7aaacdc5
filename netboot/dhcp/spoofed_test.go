package dhcp

import (
	"net"
	"testing"

	"rackboot/netboot"
	"rackboot/protocol"
)

// TestSpoofedARP: on the link of a server that has a lease, each packet that says somebody else
// has its address, or the agent's, is named; what its own interface says, and a probe, are not.
func TestSpoofedARP(t *testing.T) {
	w := newWorld(t, lease1())
	leased := addr(w.bind(t, mac1))
	l := linkTo(t, newWire(nil), newWire(nil), nil)
	w.link = l
	hw, err := net.ParseMAC(mac1)
	if err != nil {
		t.Fatal(err)
	}
	own, neighbour := mac48(hw), stranger48()
	w.resolver.set(protocol.BootAnswer{Action: protocol.AnswerSilence}) // to the neighbour
	agent := w.resolver.seg.Address
	for _, row := range []struct {
		name string
		p    arpPacket
		want bool
	}{
		{"its own interface answers", arpPacket{op: arpReply, senderMAC: own, senderIP: leased, targetIP: agent}, false},
		{"the agent's own", arpPacket{op: arpRequest, senderMAC: l.mac, senderIP: agent, targetIP: leased}, false},
		{"a probe for the address", probeOf(neighbour, leased), false},
		{"a neighbour asks from its own", arpPacket{op: arpRequest, senderMAC: neighbour, senderIP: addr("10.99.0.5"), targetIP: leased}, false},
		{"a neighbour announces the server's", arpPacket{op: arpRequest, senderMAC: neighbour, senderIP: leased, targetIP: leased}, true},
		{"a neighbour answers for the agent", arpPacket{op: arpReply, senderMAC: neighbour, senderIP: agent, targetIP: leased}, true},
	} {
		before := len(w.notices.list)
		w.uses(row.p)
		told := w.notices.list[before:]
		if (len(told) == 1) != row.want || row.want && (told[0].Kind != netboot.NoticeSpoofed || told[0].Address != row.p.senderIP || told[0].MAC != neighbour.String()) {
			t.Errorf("%s: told %+v", row.name, told)
		}
	}
}
