package rack

import (
	"net"
	"slices"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestNoAddress: a server that asks on a segment without a free address says so, and its agent, as
// the hub hears; once it has one, neither does.
func TestNoAddress(t *testing.T) {
	b := newBench(t, 1, bmcsim.Plain())
	b.change = func(s *resource.SegmentIntent) { s.PoolFrom, s.PoolTo = s.Address, s.Address }
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first report", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerOff })
	mac, err := net.ParseMAC(b.servers[0].MAC)
	if err != nil {
		t.Fatal(err)
	}
	p, err := dhcpv4.NewDiscovery(mac)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(b.dhcp))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write(p.ToBytes()); err != nil {
		t.Fatal(err)
	}
	waits := func(r resource.ServerReport) bool {
		return slices.ContainsFunc(r.Conditions, func(c resource.ConditionState) bool {
			return c.Code == resource.CondNoAddress && c.Message == "on segment boot-a"
		})
	}
	b.until("the server's condition", 0, waits)
	b.conds("the agent's condition", contains("PoolExhausted: segment boot-a has no address for server "+b.servers[0].Name))
	b.change = nil
	b.send(a)
	b.lease(b.servers[0].MAC, func(string) {})
	b.until("the end at the server", 0, func(r resource.ServerReport) bool { return !waits(r) })
	b.conds("the end at the agent", lacks("PoolExhausted"))
}
