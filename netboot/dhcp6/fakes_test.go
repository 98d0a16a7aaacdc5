package dhcp6

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// memLeases is a LeaseStore in memory, keyed like the real one.
type memLeases struct {
	mu      sync.Mutex
	leases  map[netip.Addr]netboot.Lease6
	broken  bool
	deleted int
}

func newMemLeases() *memLeases { return &memLeases{leases: make(map[netip.Addr]netboot.Lease6)} }

func (m *memLeases) Load(string) ([]netboot.Lease6, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []netboot.Lease6
	for _, l := range m.leases {
		out = append(out, l)
	}
	return out, nil
}

func (m *memLeases) Put(_ context.Context, leases ...netboot.Lease6) error {
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

func (m *memLeases) Delete(_ context.Context, l netboot.Lease6) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.leases, l.Address)
	m.deleted++
	return nil
}

func (m *memLeases) get(a string) (netboot.Lease6, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.leases[netip.MustParseAddr(a)]
	return l, ok
}

// fixedResolver answers the same to everybody.
type fixedResolver struct {
	mu      sync.Mutex
	in      resource.SegmentIntent
	seg     resource.SegmentIPv6Intent
	answer  protocol.BootAnswer
	noSeg   bool
	panics  bool
	clients []protocol.BootClient
}

func (f *fixedResolver) Segment(string) (resource.SegmentIntent, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	in, seg := f.in, f.seg
	if in.IPv6 = &seg; f.noSeg {
		in.IPv6 = nil
	}
	return in, true
}

func (f *fixedResolver) Resolve(c protocol.BootClient) protocol.BootAnswer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics {
		panic("resolver broke")
	}
	f.clients = append(f.clients, c)
	return f.answer
}

func (f *fixedResolver) set(a protocol.BootAnswer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = a
}

func (f *fixedResolver) breakDown(panics bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.panics = panics
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

// world is a server whose messages are handed over by call, and its clock.
type world struct {
	*Server
	resolver *fixedResolver
	leases   *memLeases
	evidence *memEvidence
	notices  *memNotices
	clock    time.Time
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func testSegment() resource.SegmentIPv6Intent {
	return resource.SegmentIPv6Intent{
		Prefix: netip.MustParsePrefix("2001:db8::/64"), PoolFrom: addr("2001:db8::1000"), PoolTo: addr("2001:db8::1fff"),
		Address: addr("2001:db8::1"), LeaseTime: time.Hour,
	}
}

// deadConn is a PacketConn for servers that are never run.
type deadConn struct{ net.PacketConn }

func (deadConn) LocalAddr() net.Addr { return &net.UDPAddr{} }

func newWorld(tb testing.TB, answer protocol.BootAnswer) *world {
	tb.Helper()
	w := &world{
		resolver: &fixedResolver{seg: testSegment(), answer: answer},
		leases:   newMemLeases(), evidence: &memEvidence{}, notices: &memNotices{},
		clock: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}
	w.restart(tb)
	return w
}

// config is that of a server without a socket.
func (w *world) config() Config {
	return Config{
		Segment: "rack1", Conn: deadConn{}, DUID: DUID("agent1/rack1"),
		Resolver: w.resolver, Leases: w.leases, Evidence: w.evidence, Notify: w.notices.add,
		Logger: slog.New(slog.DiscardHandler), Clock: func() time.Time { return w.clock },
	}
}

// restart makes a new server on the same lease store.
func (w *world) restart(tb testing.TB, changes ...func(*Config)) {
	tb.Helper()
	cfg := w.config()
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

func boot1() protocol.BootAnswer {
	return protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "tok", File: "uki.efi"}
}

const mac1, mac2 = "52:54:00:12:34:56", "52:54:00:12:34:57"

func duidLLOf(mac string) []byte {
	hw, err := net.ParseMAC(mac)
	if err != nil {
		panic(err)
	}
	return append([]byte{0, duidLL, 0, hardwareEthernet}, hw...)
}

type opt = func(*reply)

// client builds a message; the type reply serves for both directions.
func client(kind dhcpv6.MessageType, mac string, opts ...opt) *reply {
	p := &reply{kind: kind, xid: [3]byte{1, 2, 3}}
	p.add(raw(dhcpv6.OptionClientID, duidLLOf(mac)))
	for _, o := range opts {
		o(p)
	}
	return p
}

func (p *reply) bytes() []byte {
	return append([]byte{byte(p.kind), p.xid[0], p.xid[1], p.xid[2]}, p.options.ToBytes()...)
}

func with(code dhcpv6.OptionCode, v ...byte) opt { return func(p *reply) { p.add(raw(code, v)) } }

func without(code dhcpv6.OptionCode) opt { return func(p *reply) { p.options.Del(code) } }

func xid(b byte) opt { return func(p *reply) { p.xid[2] = b } }

func ours() opt { return with(dhcpv6.OptionServerID, DUID("agent1/rack1")...) }

// ia adds an IA_NA with addresses.
func ia(id byte, addrs ...string) opt {
	return func(p *reply) {
		var in dhcpv6.Options
		for _, a := range addrs {
			in.Add(address(addr(a), 0))
		}
		p.add(naOption(association{id: [4]byte{id}}, 0, 0, in))
	}
}

func vendor(enterprise byte, text string) opt {
	return with(dhcpv6.OptionVendorClass, append([]byte{0, 0, 0, enterprise, 0, byte(len(text))}, text...)...)
}

// httpClient is what EDK2's HTTP boot says of itself.
func httpClient() opt {
	return func(p *reply) {
		with(dhcpv6.OptionClientArchType, 0, 16)(p)
		p.add(&dhcpv6.OptVendorClass{EnterpriseNumber: 343, Data: [][]byte{[]byte("HTTPClient:Arch:00016:UNDI:003000")}})
	}
}

func pxeClient() opt { return vendor(87, "PXEClient:Arch:00007:UNDI:003016") }

// ask hands a message over and returns the parsed reply, nil for silence.
func (w *world) ask(tb testing.TB, p *reply) *dhcpv6.Message {
	tb.Helper()
	out, to := w.respond(tb.Context(), p.bytes(), peer(), true)
	if out == nil {
		return nil
	}
	if to != peer() {
		tb.Errorf("reply goes to %s", to)
	}
	m, err := dhcpv6.MessageFromBytes(out)
	if err != nil {
		tb.Fatalf("reply does not parse: %v", err)
	}
	return m
}

// leased is the address of a reply's first IA_NA.
func leased(m *dhcpv6.Message) string {
	if m == nil {
		return ""
	}
	for _, n := range m.Options.IANA() {
		for _, a := range n.Options.Addresses() {
			if a.ValidLifetime > 0 {
				return a.IPv6Addr.String()
			}
		}
	}
	return ""
}

// bind takes a client through SOLICIT and REQUEST and returns its address.
func (w *world) bind(tb testing.TB, mac string, opts ...opt) string {
	tb.Helper()
	a := leased(w.ask(tb, client(dhcpv6.MessageTypeSolicit, mac, append(opts, ia(1))...)))
	m := w.ask(tb, client(dhcpv6.MessageTypeRequest, mac, append(opts, ours(), ia(1, a), xid(9))...))
	if a == "" || leased(m) != a {
		tb.Fatalf("advertised %q, then %v", a, m)
	}
	return a
}

func peer() netip.AddrPort { return netip.MustParseAddrPort("[fe80::abcd%seg0]:546") }
