package rack

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	bmcsim "rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// unknowns are simulated BMCs that nobody told the agent of, by address.
type unknowns struct {
	mu sync.Mutex
	at map[string]*bmcsim.BMC
}

func (u *unknowns) add(t *testing.T, addr string) *bmcsim.BMC {
	t.Helper()
	b, err := bmcsim.New(bmcsim.Config{
		Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Username: "admin", Password: "secret",
		Listen: func() (net.Listener, error) { return net.Listen("tcp", addr+":0") },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at[addr] = b
	return b
}

func (u *unknowns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	u.mu.Lock()
	b := u.at[netip.MustParseAddrPort(address).Addr().String()]
	u.mu.Unlock()
	if b == nil {
		return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
	}
	return new(net.Dialer).DialContext(ctx, network, b.Address()[len("https://"):])
}

// TestFound: a segment becomes one of hosts and BMCs. A BMC with a known prefix gets a
// lease, one at a listed address is found there; both are reported, also after a
// restart, until the segment is one of hosts again. The server on it boots meanwhile.
func TestFound(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	u := &unknowns{at: map[string]*bmcsim.BMC{}}
	b.found = u.dial
	scanned := u.add(t, "127.77.1.5")
	a, stop := b.start(nil)
	b.send(a)
	b.until("the first report", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerOff })
	b.change = func(s *resource.SegmentIntent) {
		s.Role, s.BMCPrefixes, s.Scan = resource.SegmentBoth, []string{"3c:ec:ef"}, []netip.Prefix{netip.MustParsePrefix("127.77.1.0/29")}
	}
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	var leased *bmcsim.BMC
	b.lease("3c:ec:ef:00:00:01", func(addr string) { leased = u.add(t, addr) })
	for addr, bmc := range u.at {
		b.eventually("the BMC at "+addr, func() bool { return b.sees("https://"+addr, bmc.Fingerprint()) })
	}
	m, _ := b.newest()
	if len(m.Found) != 2 || m.Found[0].MAC != "3c:ec:ef:00:00:01" || m.Found[0].By != resource.FoundByLease || m.Found[1].By != resource.FoundByScan {
		t.Errorf("found %+v", m.Found)
	}
	stop()
	a, _ = b.start(nil)
	for _, bmc := range []*bmcsim.BMC{leased, scanned} {
		b.eventually("both after a restart", func() bool {
			m, _ := b.newest()
			return slices.ContainsFunc(m.Found, func(f resource.FoundBMC) bool { return f.Fingerprint == bmc.Fingerprint() })
		})
	}
	b.change = nil
	b.send(a)
	b.eventually("nobody", func() bool { m, ok := b.newest(); return ok && len(m.Found) == 0 })
}

// sees says whether the newest report has a BMC.
func (b *bench) sees(address, fingerprint string) bool {
	m, _ := b.newest()
	return slices.ContainsFunc(m.Found, func(f resource.FoundBMC) bool { return f.Address == address && f.Fingerprint == fingerprint })
}

// lease gets an address by DHCP, as a relay on this host (RFC 8357: answered at the
// port that it asks from). offered is called before it is taken: the BMC must be there
// when it is looked at, because the next look is 30 s later.
func (b *bench) lease(mac string, offered func(addr string)) {
	t := b.t
	t.Helper()
	hw, err := net.ParseMAC(mac)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(b.dhcp))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	ask := func(mods ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
		p, err := dhcpv4.New(append(mods, dhcpv4.WithHwAddr(hw), dhcpv4.WithGatewayIP(net.IPv4(127, 0, 0, 1)),
			dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionRelayAgentInformation, []byte{19, 0})))...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(p.ToBytes()); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 2048)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := dhcpv4.FromBytes(buf[:n])
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	offer := ask(dhcpv4.WithMessageType(dhcpv4.MessageTypeDiscover))
	offered(offer.YourIPAddr.String())
	ack := ask(dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest), dhcpv4.WithOption(dhcpv4.OptServerIdentifier(offer.ServerIdentifier())),
		dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(offer.YourIPAddr)))
	if ack.MessageType() != dhcpv4.MessageTypeAck || ack.Options.Has(dhcpv4.OptionBootfileName) {
		t.Fatalf("answered %s", ack.Summary())
	}
}
