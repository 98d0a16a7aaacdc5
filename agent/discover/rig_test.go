package discover

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memLeases is a lease store in memory.
type memLeases struct {
	mu     sync.Mutex
	leases map[netip.Addr]netboot.Lease
}

func (m *memLeases) Load(segment string) (leases []netboot.Lease, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.leases {
		if l.Segment == segment {
			leases = append(leases, l)
		}
	}
	return leases, nil
}

func (m *memLeases) Put(_ context.Context, leases ...netboot.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases == nil {
		m.leases = map[netip.Addr]netboot.Lease{}
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

// dialled is a Dial that notes what is dialled and hands it on.
type dialled struct {
	dial func(ctx context.Context, addr netip.Addr) (net.Conn, error)

	mu   sync.Mutex
	at   map[netip.Addr][]time.Time
	now  int // being dialled
	most int
}

func (d *dialled) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	ap := netip.MustParseAddrPort(address)
	d.mu.Lock()
	if d.at == nil {
		d.at = map[netip.Addr][]time.Time{}
	}
	d.at[ap.Addr()] = append(d.at[ap.Addr()], time.Now())
	d.now++
	d.most = max(d.most, d.now)
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.now--
		d.mu.Unlock()
	}()
	if ap.Port() != 443 {
		panic("port " + address)
	}
	return d.dial(ctx, ap.Addr())
}

func (d *dialled) times(addr string) []time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at[netip.MustParseAddr(addr)]
}

func (d *dialled) count() (addrs, dials int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, at := range d.at {
		dials += len(at)
	}
	return len(d.at), dials
}

// hole is a network in which nobody answers.
func hole(ctx context.Context, _ netip.Addr) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

const (
	mac1 = "3c:ec:ef:00:00:01"
	mac2 = "3c:ec:ef:00:00:02"
)

func segment() resource.SegmentIntent {
	return resource.SegmentIntent{
		Name: "bmcs", Role: resource.SegmentBMC, Prefix: netip.MustParsePrefix("10.7.0.0/24"),
		PoolFrom: netip.MustParseAddr("10.7.0.100"), PoolTo: netip.MustParseAddr("10.7.0.199"),
		Address: netip.MustParseAddr("10.7.0.1"), LeaseTime: time.Hour, BMCPrefixes: []string{"3c:ec:ef"},
	}
}

func leased(mac, addr string, until time.Time) netboot.Lease {
	return netboot.Lease{Segment: "bmcs", MAC: mac, Address: netip.MustParseAddr(addr), Expires: until}
}

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, s := range texts {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// start makes a Finder and runs it until stop, which waits for its end, or the end
// of the test.
func start(t *testing.T, cfg Config) (f *Finder, stop func()) {
	t.Helper()
	if cfg.Leases == nil {
		cfg.Leases = &memLeases{}
	}
	f, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return f, stop
}
