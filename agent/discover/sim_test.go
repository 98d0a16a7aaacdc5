//go:debug x509negativeserial=1

package discover

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/time/rate"

	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// patience is how long what must come may take on a machine that has much else to do.
const patience = time.Minute

// place is simulated BMCs, each at a loopback address of its own, and a server that
// gives them leases.
type place struct {
	t       *testing.T
	seg     resource.SegmentIntent
	mu      sync.Mutex
	bmcs    map[netip.Addr]string // where the one of an address listens
	changed chan struct{}
	dial    *dialled
	leases  *memLeases
	find    *Finder
	reg     *prometheus.Registry
	client  *net.UDPConn
}

// Segment and Resolve are of a rack without servers.
func (p *place) Segment(string) (resource.SegmentIntent, bool) { return p.seg, true }

func (p *place) Resolve(protocol.BootClient) protocol.BootAnswer {
	return protocol.BootAnswer{Action: protocol.AnswerSilence}
}

func (p *place) Record(netboot.Event) {}

func newPlace(t *testing.T) *place {
	p := &place{
		t: t, seg: segment(), bmcs: map[netip.Addr]string{}, changed: make(chan struct{}, 1), leases: &memLeases{},
		reg: prometheus.NewRegistry(),
	}
	p.seg.Prefix, p.seg.Address = netip.MustParsePrefix("127.77.0.0/24"), netip.MustParseAddr("127.77.0.1")
	p.seg.PoolFrom, p.seg.PoolTo = netip.MustParseAddr("127.77.0.100"), netip.MustParseAddr("127.77.0.199")
	p.dial = &dialled{dial: func(ctx context.Context, addr netip.Addr) (net.Conn, error) {
		p.mu.Lock()
		at, ok := p.bmcs[addr]
		p.mu.Unlock()
		if !ok {
			return refusing(ctx, addr)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", at)
	}}
	p.find, _ = start(t, Config{Leases: p.leases, Dial: p.dial.Dial, Registerer: p.reg, Changed: func() {
		select {
		case p.changed <- struct{}{}:
		default:
		}
	}})
	p.find.askFor = patience // nobody is asked yet
	return p
}

// bmc puts a BMC at an address.
func (p *place) bmc(addr string, personality sim.Personality) *sim.BMC {
	p.t.Helper()
	b, err := sim.New(sim.Config{
		Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Personality: personality, Username: "u", Password: "p",
		Listen: func() (net.Listener, error) { return net.Listen("tcp", addr+":0") },
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = b.Close() })
	p.mu.Lock()
	p.bmcs[netip.MustParseAddr(addr)] = b.Address()[len("https://"):]
	p.mu.Unlock()
	return b
}

// await waits until what was found is so.
func (p *place) await(so func([]resource.FoundBMC) bool) {
	p.t.Helper()
	late := time.After(patience)
	for !so(p.find.Found()) {
		select {
		case <-p.changed:
		case <-late:
			p.t.Fatalf("found %+v", p.find.Found())
		}
	}
}

// serve starts the DHCP server.
func (p *place) serve() {
	t := p.t
	t.Helper()
	s, err := dhcp.New(dhcp.Config{
		Segment: p.seg.Name, Listen: netip.MustParseAddrPort("127.0.0.1:0"), Resolver: p, Leases: p.leases, Evidence: p,
		Granted: p.find.Leased,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	if p.client, err = net.DialUDP("udp4", nil, s.Addr().(*net.UDPAddr)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.client.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// exchange sends a packet as a relay on this host does, which gets the answer at
// its own port (RFC 8357).
func (p *place) exchange(mac string, kind dhcpv4.MessageType, options ...dhcpv4.Option) *dhcpv4.DHCPv4 {
	p.t.Helper()
	hw, err := net.ParseMAC(mac)
	if err != nil {
		p.t.Fatal(err)
	}
	packet, err := dhcpv4.New(dhcpv4.WithHwAddr(hw), dhcpv4.WithMessageType(kind), dhcpv4.WithGatewayIP(net.IPv4(127, 0, 0, 1)),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionRelayAgentInformation, []byte{19, 0})))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, o := range options {
		packet.UpdateOption(o)
	}
	if _, err := p.client.Write(packet.ToBytes()); err != nil {
		p.t.Fatal(err)
	}
	buf := make([]byte, 2048)
	_ = p.client.SetReadDeadline(time.Now().Add(patience))
	n, err := p.client.Read(buf)
	if err != nil {
		p.t.Fatal(err)
	}
	reply, err := dhcpv4.FromBytes(buf[:n])
	if err != nil {
		p.t.Fatal(err)
	}
	return reply
}

// bind is DISCOVER and REQUEST. between is called when the address is offered, as a
// BMC configures its interface only after that.
func (p *place) bind(mac string, between func(addr string)) string {
	p.t.Helper()
	offer := p.exchange(mac, dhcpv4.MessageTypeDiscover)
	between(offer.YourIPAddr.String())
	ack := p.exchange(mac, dhcpv4.MessageTypeRequest, dhcpv4.OptServerIdentifier(offer.ServerIdentifier()), dhcpv4.OptRequestedIPAddress(offer.YourIPAddr))
	if ack.MessageType() != dhcpv4.MessageTypeAck {
		p.t.Fatalf("REQUEST gets %s", ack.MessageType())
	}
	return ack.YourIPAddr.String()
}

// TestFoundByLease: a BMC gets a lease and is read at once, with its certificate's
// fingerprint.
func TestFoundByLease(t *testing.T) {
	p := newPlace(t)
	p.find.Segments([]resource.SegmentIntent{p.seg})
	p.serve()
	var b *sim.BMC
	addr := p.bind(mac1, func(addr string) { b = p.bmc(addr, sim.Personality{}) })
	p.await(func(found []resource.FoundBMC) bool { return len(found) == 1 && found[0].Redfish != "" })
	got := p.find.Found()[0]
	want := resource.FoundBMC{
		Segment: "bmcs", By: resource.FoundByLease, MAC: mac1, Address: "https://" + addr, Fingerprint: b.Fingerprint(),
		At: got.At, Vendor: got.Vendor, Product: got.Product, UUID: got.UUID, Redfish: got.Redfish,
	}
	if got != want || time.Since(got.At) > patience {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := testutil.ToFloat64(p.find.metrics.answers.WithLabelValues(string(resultRoot))); n != 1 {
		t.Errorf("%v roots are counted", n)
	}
}

// TestFoundByScan: those that are in the range, and nobody else; what was found so
// goes away with the range.
func TestFoundByScan(t *testing.T) {
	p := newPlace(t)
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprintf("https://127.77.0.%d", 10+i))
		p.bmc(fmt.Sprintf("127.77.0.%d", 10+i), sim.Personality{})
	}
	p.bmc("127.77.0.1", sim.Personality{})  // the agent's own address
	p.bmc("127.77.0.50", sim.Personality{}) // not listed
	p.bmc("127.78.0.2", sim.Personality{})  // listed, and not in the segment
	p.seg.Scan = prefixes("127.77.0.0/27", "127.78.0.0/30")
	p.find.Segments([]resource.SegmentIntent{p.seg})
	p.await(func(found []resource.FoundBMC) bool { return len(found) == len(want) })
	var got []string
	for _, b := range p.find.Found() {
		got = append(got, b.Address)
		if b.By != resource.FoundByScan || b.MAC != "" || b.Fingerprint == "" || b.Redfish == "" || b.Problem != "" {
			t.Errorf("%+v", b)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %v", got)
	}
	for _, addr := range []string{"127.77.0.1", "127.77.0.50", "127.78.0.2"} {
		if len(p.dial.times(addr)) != 0 {
			t.Errorf("%s was dialled", addr)
		}
	}
	if problems, err := testutil.GatherAndLint(p.reg); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	p.seg.Scan = prefixes("127.77.0.8/30") // .8 to .11
	p.find.Segments([]resource.SegmentIntent{p.seg})
	p.await(func(found []resource.FoundBMC) bool { return len(found) == 2 })
	p.find.Segments(nil)
	p.await(func(found []resource.FoundBMC) bool { return len(found) == 0 })
}

// TestFoundWhateverItsQuirks: the service root of each vendor is read, and that of
// firmware with habits of its own on the wire. One that is slow at times is read at
// another time.
func TestFoundWhateverItsQuirks(t *testing.T) {
	p := newPlace(t)
	p.find.limit.SetLimit(rate.Inf)
	var asking sync.WaitGroup
	asked := 0
	for i, personality := range sim.Presets() {
		vendor := personality.Latency.Max > 0 // there is one of each
		if !vendor && reflect.ValueOf(personality.Wire).IsZero() {
			continue
		}
		asked++
		personality.Latency = sim.Latency{}
		addr := fmt.Sprintf("127.77.0.%d", 2+i)
		p.bmc(addr, personality)
		asking.Go(func() {
			a, ok := p.find.ask(t.Context(), p.seg, netip.MustParseAddr(addr))
			if !ok || a.result != resultRoot || a.root.redfish == "" {
				t.Errorf("%s: %s %s %+v", personality.Name, a.result, a.problem, a.root)
			}
		})
	}
	asking.Wait()
	if asked < 10 {
		t.Errorf("%d were asked", asked)
	}
}
