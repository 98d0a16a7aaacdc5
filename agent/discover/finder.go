package discover

import (
	"context"
	"log/slog"
	"net"
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/netboot"
	"rackboot/netboot/guard"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Config is what a Finder needs.
type Config struct {
	// Leases are those of the DHCP servers; each segment's are read when it comes.
	Leases netboot.LeaseStore[netboot.Lease]
	// Changed is called after Found says something else than before, other than when a
	// BMC was last seen. It must not block. None if nil.
	Changed func()
	// Interfaces are those that the agent's own file names for segments. Connections
	// leave by them only.
	Interfaces map[string]string
	// Dial connects to port 443 of an address instead, for tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	Clock      func() time.Time      // time.Now if nil
	Logger     *slog.Logger          // none if nil
	Registerer prometheus.Registerer // none if nil
}

// Finder keeps what was found. Its methods are safe for concurrent use.
type Finder struct {
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	limit   *rate.Limiter
	askFor  time.Duration
	scans   chan struct{} // a place for each address that is being scanned
	poked   chan struct{}

	mu       sync.Mutex
	segments map[string]resource.SegmentIntent
	table    table
}

// New makes a Finder that looks for nothing yet. Errors: invalid without a lease
// store, conflict if its metrics are registered already.
func New(cfg Config) (*Finder, error) {
	const op = "look for BMCs"
	if cfg.Leases == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "a lease store is needed")
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	f := &Finder{
		cfg: cfg, log: guard.Calm(cfg.Logger), limit: rate.NewLimiter(askRate, 1), askFor: askFor,
		scans: make(chan struct{}, scanAtOnce), poked: make(chan struct{}, 1),
		segments: map[string]resource.SegmentIntent{}, table: table{},
	}
	f.metrics = newMetrics(f.count)
	if cfg.Registerer != nil {
		if err := cfg.Registerer.Register(f.metrics); err != nil {
			return nil, protocol.Errorf(protocol.CodeConflict, op, "registering metrics: %w", err)
		}
	}
	return f, nil
}

// Segments says where to look: the segments among these that have BMCs. What was
// found in others, or by a rule that is gone, is forgotten.
func (f *Finder) Segments(segments []resource.SegmentIntent) {
	wanted := map[string]resource.SegmentIntent{}
	for _, s := range segments {
		if netboot.HasBMCs(s) {
			wanted[s.Name] = s
		}
	}
	f.mu.Lock()
	if reflect.DeepEqual(wanted, f.segments) {
		f.mu.Unlock()
		return
	}
	f.segments = wanted
	changed := f.table.keep(wanted)
	f.mu.Unlock()
	f.tell(changed)
	f.poke()
}

// Leased takes a lease that was granted or renewed. It does not block.
func (f *Finder) Leased(l netboot.Lease) {
	f.mu.Lock()
	changed, full := false, false
	if seg, ok := f.segments[l.Segment]; ok {
		changed, full = f.table.leased(seg, l, f.cfg.Clock())
	}
	f.mu.Unlock()
	f.refused(full, "mac", l.MAC)
	if changed {
		f.poke()
	}
	f.tell(changed)
}

// answered takes what an address answered.
func (f *Finder) answered(segment string, a answer) {
	f.metrics.answers.WithLabelValues(string(a.result)).Inc()
	f.mu.Lock()
	changed, full := false, false
	if seg, ok := f.segments[segment]; ok {
		changed, full = f.table.answered(seg, a, f.cfg.Clock())
	}
	f.mu.Unlock()
	f.refused(full, "address", a.addr.String())
	f.tell(changed)
}

// Found are the BMCs that are known now, at most [MaxFound], in the order of their
// segments and addresses.
func (f *Finder) Found() []resource.FoundBMC {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.table.found()
}

func (f *Finder) count() map[resource.FoundBy]int {
	n := map[resource.FoundBy]int{}
	for _, b := range f.Found() {
		n[b.By]++
	}
	return n
}

// refused says that there is no room for a BMC.
func (f *Finder) refused(full bool, key, value string) {
	if full {
		f.metrics.refused.Inc()
		f.log.Warn("too many BMCs were found; one more is not kept", "limit", MaxFound, key, value)
	}
}

func (f *Finder) tell(changed bool) {
	if changed {
		f.cfg.Changed()
	}
}

// poke makes Run look at segments and leases.
func (f *Finder) poke() {
	select {
	case f.poked <- struct{}{}:
	default:
	}
}
