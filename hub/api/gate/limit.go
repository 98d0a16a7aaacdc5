package gate

import (
	"container/list"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

const (
	// maxSources bounds the sources that are remembered; the one that was seen longest
	// ago makes room.
	maxSources = 4096
	// maxReading bounds the bodies of one caller, or of one source, that are read at once.
	maxReading = 32
)

// Limits are the rates that requests may come at. A zero field has its default.
type Limits struct {
	CallerPerSecond float64 // requests of one caller; 500
	CallerBurst     int     // 4 × CallerPerSecond
	// SourcePerSecond are the requests of one source (an IPv4 address, or an IPv6 /64)
	// that nobody is known to send; 10.
	SourcePerSecond float64
	SourceBurst     int     // 20 × SourcePerSecond
	AllPerSecond    float64 // those of all sources together; 100
	AllBurst        int     // 10 × AllPerSecond
	// JoinPerSecond are the agents that join from one source, behind which a whole site may be; 50.
	// They are not counted with the others. Of all sources together there may be four times as many.
	JoinPerSecond float64
	JoinBurst     int // 20 × JoinPerSecond
}

func (l Limits) withDefaults() Limits {
	set := func(per *float64, burst *int, value float64, times float64) {
		if *per <= 0 {
			*per = value
		}
		if *burst <= 0 {
			*burst = max(1, int(*per*times))
		}
	}
	set(&l.CallerPerSecond, &l.CallerBurst, 500, 4)
	set(&l.SourcePerSecond, &l.SourceBurst, 10, 20)
	set(&l.AllPerSecond, &l.AllBurst, 100, 10)
	set(&l.JoinPerSecond, &l.JoinBurst, 50, 20)
	return l
}

// limiter holds the rates of callers and of sources. It is safe for concurrent use.
type limiter struct {
	limits Limits
	all    *rate.Limiter // of what nobody is known to send
	joins  *rate.Limiter // of agents that join

	mu      sync.Mutex
	callers map[string]*gauge
	sources map[netip.Prefix]*list.Element // of *gauge
	used    *list.List                     // of *gauge, the latest first
}

// gauge is one caller or source.
type gauge struct {
	rate    *rate.Limiter
	joins   *rate.Limiter // of a source
	reading chan struct{}
	source  netip.Prefix
}

func newLimiter(l Limits) *limiter {
	l = l.withDefaults()
	return &limiter{
		limits: l, callers: map[string]*gauge{}, all: rate.NewLimiter(rate.Limit(l.AllPerSecond), l.AllBurst),
		joins:   rate.NewLimiter(rate.Limit(4*l.JoinPerSecond), 4*l.JoinBurst),
		sources: map[netip.Prefix]*list.Element{}, used: list.New(),
	}
}

// caller is the gauge of a caller by its name.
func (l *limiter) caller(name string) *gauge {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.callers[name]
	if g == nil {
		if len(l.callers) >= maxSources { // of many persons; whoever comes again begins anew
			clear(l.callers)
		}
		g = newGauge(l.limits.CallerPerSecond, l.limits.CallerBurst)
		l.callers[name] = g
	}
	return g
}

// keep forgets the callers who are not of names. One whose last request is being admitted comes back,
// and goes at the next keep.
func (l *limiter) keep(names map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.callers, func(name string, _ *gauge) bool { return !names[name] })
}

func newGauge(per float64, burst int) *gauge {
	return &gauge{rate: rate.NewLimiter(rate.Limit(per), burst), reading: make(chan struct{}, maxReading)}
}

// source is where a request comes from by its connection. What a header says of it is
// anybody's word.
func source(r *http.Request) netip.Prefix {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	at = at.Unmap().WithZone("")
	bits := 32
	if at.Is6() {
		bits = 64 // who has one address of a link has all
	}
	p, err := at.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// of is the gauge of a source.
func (l *limiter) of(p netip.Prefix) *gauge {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.sources[p]; ok {
		l.used.MoveToFront(e)
		return e.Value.(*gauge)
	}
	if len(l.sources) >= maxSources {
		last := l.used.Back()
		delete(l.sources, last.Value.(*gauge).source)
		l.used.Remove(last)
	}
	g := newGauge(l.limits.SourcePerSecond, l.limits.SourceBurst)
	g.source, g.joins = p, rate.NewLimiter(rate.Limit(l.limits.JoinPerSecond), l.limits.JoinBurst)
	l.sources[p] = l.used.PushFront(g)
	return g
}

// wait takes one request out of a rate, or says when there is room again.
func wait(l *rate.Limiter) time.Duration {
	r := l.Reserve()
	d := r.Delay()
	if d > 0 {
		r.Cancel()
	}
	return d
}

// admit counts a request of a known caller, or of a source. The gauge is for what it
// reads; after is when to come again if there is no room.
func (l *limiter) admit(r *http.Request, who string, known bool) (g *gauge, after time.Duration) {
	if known {
		g = l.caller(who)
		return g, wait(g.rate)
	}
	g = l.of(source(r))
	own, all := g.rate, l.all
	if r.URL.Path == protoapi.PathJoin {
		own, all = g.joins, l.joins
	}
	if after = wait(own); after == 0 {
		after = wait(all)
	}
	return g, after
}

// tooMany answers 429 (RFC 6585, section 4).
func tooMany(w http.ResponseWriter, after time.Duration) {
	seconds := max(1, int((after+time.Second-1)/time.Second))
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	route.WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "answer", "too many requests").
		WithHint("nothing was done; come again in %d s, and ask less often", seconds)).WithStatus(http.StatusTooManyRequests))
}
