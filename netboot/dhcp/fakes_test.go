package dhcp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// memLeases is a LeaseStore in memory, keyed like the real one.
type memLeases struct {
	mu     sync.Mutex
	leases map[netip.Addr]netboot.Lease
	broken bool
	// putGate, if set, holds each Put until it is closed.
	putGate chan struct{}
}

func newMemLeases() *memLeases { return &memLeases{leases: make(map[netip.Addr]netboot.Lease)} }

func (m *memLeases) Load(string) ([]netboot.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []netboot.Lease
	for _, l := range m.leases {
		out = append(out, l)
	}
	return out, nil
}

func (m *memLeases) Put(_ context.Context, leases ...netboot.Lease) error {
	if m.putGate != nil {
		<-m.putGate
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errors.New("disk full")
	}
	for _, l := range leases {
		m.leases[l.Address] = l
	}
	return nil
}

func (m *memLeases) Delete(_ context.Context, l netboot.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.leases, l.Address)
	return nil
}

func (m *memLeases) get(a string) (netboot.Lease, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.leases[netip.MustParseAddr(a)]
	return l, ok
}

// fixedResolver answers the same to everybody.
type fixedResolver struct {
	mu     sync.Mutex
	seg    resource.SegmentIntent
	answer protocol.BootAnswer
	noSeg  bool
	calls  int
	panics bool
	svc    netboot.Service
}

func (f *fixedResolver) Service(string) netboot.Service {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.svc
}

func (f *fixedResolver) Segment(string) (resource.SegmentIntent, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seg, !f.noSeg
}

func (f *fixedResolver) Resolve(protocol.BootClient) protocol.BootAnswer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics {
		panic("resolver broke")
	}
	f.calls++
	return f.answer
}

func (f *fixedResolver) set(a protocol.BootAnswer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = a
}

type memEvidence struct {
	mu     sync.Mutex
	events []netboot.Event
}

func (m *memEvidence) Record(e netboot.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
}

// memNotices keeps what was told.
type memNotices struct {
	mu   sync.Mutex
	list []netboot.Notice
}

func (m *memNotices) add(n netboot.Notice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, n)
}

func (m *memNotices) kinds() []netboot.NoticeKind {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []netboot.NoticeKind
	for _, n := range m.list {
		out = append(out, n.Kind)
	}
	return out
}

func (m *memEvidence) all() []netboot.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

// world is a server whose packets are handed over by call, and its clock.
type world struct {
	*Server
	resolver *fixedResolver
	leases   *memLeases
	evidence *memEvidence
	notices  *memNotices
	clock    time.Time
}

func testSegment() resource.SegmentIntent {
	return resource.SegmentIntent{
		Name:      "rack1",
		Prefix:    netip.MustParsePrefix("10.99.0.0/24"),
		PoolFrom:  netip.MustParseAddr("10.99.0.50"),
		PoolTo:    netip.MustParseAddr("10.99.0.99"),
		Address:   netip.MustParseAddr("10.99.0.1"),
		Routers:   []netip.Addr{netip.MustParseAddr("10.99.0.254")},
		BaseURL:   "http://10.99.0.1:8080",
		LeaseTime: time.Hour,
	}
}

// deadConn is a PacketConn for servers that are never run.
type deadConn struct{ net.PacketConn }

func (deadConn) LocalAddr() net.Addr { return &net.UDPAddr{} }

func newWorld(tb testing.TB, answer protocol.BootAnswer) *world {
	tb.Helper()
	w := &world{
		resolver: &fixedResolver{seg: testSegment(), answer: answer},
		leases:   newMemLeases(),
		evidence: &memEvidence{},
		notices:  &memNotices{},
		clock:    time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}
	w.restart(tb)
	return w
}

// respond answers a packet, and waits for the disk.
func (w *world) respond(ctx context.Context, raw []byte, peer netip.AddrPort, boot bool) reply {
	return w.respondLater(ctx, raw, peer, boot, nil)
}

// handle answers a packet that came to port 67.
func (w *world) handle(ctx context.Context, raw []byte, peer netip.AddrPort) ([]byte, netip.AddrPort) {
	out := w.respond(ctx, raw, peer, false)
	if out.mac != nil { // no raw socket here
		out.to = everybody()
	}
	return out.raw, out.to
}

// restart makes a new server on the same lease store.
func (w *world) restart(tb testing.TB, changes ...func(*Config)) {
	tb.Helper()
	cfg := Config{
		Segment: "rack1", Conn: deadConn{}, Resolver: w.resolver, Leases: w.leases, Evidence: w.evidence, Notify: w.notices.add,
		Logger: slog.New(slog.DiscardHandler), Clock: func() time.Time { return w.clock },
	}
	for _, change := range changes {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	w.Server = s
}

func lease1() protocol.BootAnswer {
	return protocol.BootAnswer{Action: protocol.AnswerLease, Server: "s1", Reason: "test"}
}

const mac1, mac2 = "52:54:00:12:34:56", "52:54:00:12:34:57"

// offered1 is what an empty pool offers mac1.
const offered1 = "10.99.0.54"

type opt = func(*dhcpv4.DHCPv4)

// client builds a packet of an Ethernet client.
func client(kind dhcpv4.MessageType, mac string, opts ...opt) *dhcpv4.DHCPv4 {
	hw, err := net.ParseMAC(mac)
	if err != nil {
		panic(err)
	}
	p := &dhcpv4.DHCPv4{
		OpCode: dhcpv4.OpcodeBootRequest, HWType: 1, TransactionID: dhcpv4.TransactionID{1, 2, 3, 4},
		ClientIPAddr: net.IPv4zero, YourIPAddr: net.IPv4zero, ServerIPAddr: net.IPv4zero, GatewayIPAddr: net.IPv4zero,
		ClientHWAddr: hw, Options: dhcpv4.Options{53: {byte(kind)}},
	}
	for _, o := range opts {
		o(p)
	}
	return p
}

func with(code byte, v ...byte) opt { return func(p *dhcpv4.DHCPv4) { p.Options[code] = v } }

func withText(code byte, v string) opt { return with(code, []byte(v)...) }

func withIP(code byte, ip string) opt {
	return with(code, netip.MustParseAddr(ip).AsSlice()...)
}

func from(mac string) opt {
	return func(p *dhcpv4.DHCPv4) { p.ClientHWAddr, _ = net.ParseMAC(mac) }
}

func ciaddr(ip string) opt { return func(p *dhcpv4.DHCPv4) { p.ClientIPAddr = net.ParseIP(ip).To4() } }

func giaddr(ip string) opt { return func(p *dhcpv4.DHCPv4) { p.GatewayIPAddr = net.ParseIP(ip).To4() } }
func xid(b byte) opt       { return func(p *dhcpv4.DHCPv4) { p.TransactionID[3] = b } }
func flagged(p *dhcpv4.DHCPv4) {
	p.Flags = 0x8000
}

var testPeer = netip.MustParseAddrPort("10.99.0.7:4242")

// send hands a packet over and returns the parsed reply, nil for silence.
func (w *world) send(tb testing.TB, p *dhcpv4.DHCPv4) (*dhcpv4.DHCPv4, netip.AddrPort) {
	tb.Helper()
	raw, to := w.handle(tb.Context(), p.ToBytes(), testPeer)
	if raw == nil {
		return nil, to
	}
	if len(raw) < 300 {
		tb.Errorf("reply has %d bytes, want at least 300 (RFC 1542 section 2.1)", len(raw))
	}
	reply, err := dhcpv4.FromBytes(raw)
	if err != nil {
		tb.Fatalf("reply does not parse: %v", err)
	}
	return reply, to
}

// bind takes a client through DISCOVER and REQUEST and returns its address.
func (w *world) bind(tb testing.TB, mac string) string {
	tb.Helper()
	offer, _ := w.send(tb, client(dhcpv4.MessageTypeDiscover, mac))
	if offer == nil {
		tb.Fatal("no offer")
	}
	ip := offer.YourIPAddr.String()
	ack, _ := w.send(tb, client(dhcpv4.MessageTypeRequest, mac, withIP(54, "10.99.0.1"), withIP(50, ip)))
	if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
		tb.Fatalf("no ack: %v", ack)
	}
	return ip
}
