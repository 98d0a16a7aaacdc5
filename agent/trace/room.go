package trace

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/bootspan"
	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

const (
	// sightingsWaiting bounds what was seen and is not in a trace yet; what comes on top
	// is counted and lost.
	sightingsWaiting = 512
	// tracesKept is how many attempts of a server are kept, the present one included.
	tracesKept = 6
	// traceFlush is how much of a trace a crash of the agent may cost.
	traceFlush = 5 * time.Second
	// traceAfter is how long after the end of an attempt what is seen is laid to it.
	traceAfter = 10 * time.Minute
)

// sighting is something that was seen of a server in an attempt. Words are made of it
// where nobody waits.
type sighting struct {
	server  string
	attempt string // its id
	row     resource.TraceRow
	// head, if not nil, is how far the attempt has come; there may be no row with it.
	head *resource.Trace
	// seen, if its source is set, is what the row is made of.
	seen netboot.Exchange
	// ended, if not nil, is the attempt at its end, without rows.
	ended *bootspan.Boot
}

// Config is what the room is made of.
type Config struct {
	Agent, Rack string // its id, its rack's name
	Store       *store.Traces
	Servers     Servers
	Spans       Spans // nil where spans go nowhere
	Clock       state.Clock
	Logger      *slog.Logger
	Registerer  prometheus.Registerer
}

// Servers is what this room asks about servers.
type Servers interface {
	// Known reports whether the agent has heard of a server.
	Known(server string) bool
}

// Spans takes attempts that have ended. It does not wait.
type Spans interface {
	// Ended takes an attempt with what was seen of it.
	Ended(b bootspan.Boot)
	// Lost counts one that came to nobody, because too much waited here.
	Lost(b bootspan.Boot)
}

// Room keeps what was seen of power-ons. Make it with New, then call Run once. All methods
// are safe for concurrent use; those that record do not wait.
type Room struct {
	cfg     Config
	queue   chan sighting
	dropped prometheus.Counter

	mu      sync.Mutex
	servers map[string]*traced
}

// traced are the traces of one server that are in memory: the newest, and those before
// it that are not on the disk yet.
type traced struct {
	now   *resource.Trace
	old   []*resource.Trace
	dirty bool
}

// New makes the room. Nothing is on disk before Run.
func New(cfg Config) *Room {
	t := &Room{cfg: cfg, queue: make(chan sighting, sightingsWaiting), servers: map[string]*traced{}, dropped: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_agent_trace_rows_dropped_total", Help: "Rows of boot traces that were not noted, because too many waited.",
	})}
	cfg.Registerer.MustRegister(t.dropped)
	return t
}

// add takes a sighting, and says whether there was room. It does not block.
func (t *Room) add(s sighting) bool {
	select {
	case t.queue <- s:
		return true
	default:
		t.dropped.Inc()
		return false
	}
}

// Run makes traces until ctx ends.
func (t *Room) Run(ctx context.Context) {
	tick := time.NewTicker(traceFlush)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			t.End()
			return
		case s := <-t.queue:
			t.take(s)
		case <-tick.C:
			t.flush()
		}
	}
}

// End takes what waits and writes what is new. It is called once more when nobody records any longer: others that end with
// Run may have recorded something after it.
func (t *Room) End() {
	t.drain()
	t.flush()
}

// drain takes what waits.
func (t *Room) drain() {
	for {
		select {
		case s := <-t.queue:
			t.take(s)
		default:
			return
		}
	}
}

// take puts one sighting where it belongs. One of an attempt that nobody has said to have
// begun is of one whose beginning was lost, and is left out.
func (t *Room) take(s sighting) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.of(s.server)
	if s.head != nil {
		t.follow(of, *s.head)
	}
	if s.ended != nil {
		t.end(of, s)
		return
	}
	if of.now == nil || of.now.Attempt != s.attempt {
		return
	}
	if s.seen.Source != "" {
		s.row = exchanged(s.seen)
	}
	if s.row.Source != "" {
		of.now.Add(s.row)
		of.dirty = true
	}
}

// end hands an attempt that has ended to who takes spans, with the rows that are kept of it. It needs t.mu.
func (t *Room) end(of *traced, s sighting) {
	for _, tr := range append(slices.Clone(of.old), of.now) {
		if tr != nil && tr.Attempt == s.attempt {
			s.ended.Rows = slices.Clone(tr.Rows)
		}
	}
	t.cfg.Spans.Ended(*s.ended)
}

// of are the traces of a server; the newest is read from the disk once. It needs t.mu.
func (t *Room) of(server string) *traced {
	of, ok := t.servers[server]
	if ok {
		return of
	}
	of = &traced{}
	t.servers[server] = of
	if kept, err := t.cfg.Store.Of(server); err != nil {
		t.cfg.Logger.Debug("traces not read", "server", server, "err", err)
	} else if n := len(kept); n > 0 {
		of.now = &kept[n-1]
	}
	return of
}

// follow takes over how far an attempt has come. Another one begins a trace. It needs
// t.mu.
func (t *Room) follow(of *traced, head resource.Trace) {
	head.Serial = 1
	if was := of.now; was != nil {
		head.Serial = was.Serial
		if was.Attempt != head.Attempt {
			head.Serial++
			of.old = append(of.old, was)
		} else {
			head.Rows = was.Rows
		}
	}
	of.old = of.old[max(0, len(of.old)-tracesKept+1):]
	of.now, of.dirty = &head, true
}

// flush writes what is new. What cannot be written is tried again; the disk's trouble
// is told by those who need it.
func (t *Room) flush() {
	for name, list := range t.unsaved() {
		err := t.cfg.Store.Put(name, list, tracesKept)
		t.mu.Lock()
		of := t.servers[name]
		if err != nil {
			of.dirty = true
		} else {
			saved := list[len(list)-1].Serial
			of.old = slices.DeleteFunc(of.old, func(o *resource.Trace) bool { return o.Serial <= saved })
		}
		t.mu.Unlock()
		if err != nil {
			t.cfg.Logger.Debug("traces not written", "server", name, "err", err)
		}
	}
}

// unsaved are copies of the traces that are not on the disk as they are, by server, in
// order.
func (t *Room) unsaved() map[string][]resource.Trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string][]resource.Trace{}
	for name, of := range t.servers {
		if !of.dirty {
			continue
		}
		for _, o := range append(slices.Clone(of.old), of.now) {
			c := *o
			c.Rows = slices.Clone(o.Rows)
			out[name] = append(out[name], c)
		}
		of.dirty = false
	}
	return out
}

// Trace is what was seen of an attempt of a server; serial 0 is the newest. The codes are
// not_found, and unavailable if the disk cannot be read.
func (t *Room) Trace(server string, serial int) (resource.Trace, error) {
	const op = "trace"
	kept, err := t.cfg.Store.Of(server)
	if err != nil {
		return resource.Trace{}, err
	}
	t.mu.Lock()
	if of := t.servers[server]; of != nil && of.now != nil {
		for _, o := range append(slices.Clone(of.old), of.now) {
			kept = slices.DeleteFunc(kept, func(k resource.Trace) bool { return k.Serial == o.Serial })
			c := *o
			c.Rows = slices.Clone(o.Rows)
			kept = append(kept, c)
		}
	}
	t.mu.Unlock()
	kept = kept[max(0, len(kept)-tracesKept):]
	if len(kept) == 0 {
		if !t.cfg.Servers.Known(server) {
			return resource.Trace{}, protocol.Errorf(protocol.CodeNotFound, op, "agent %s has not heard of server %q", t.cfg.Agent, server).
				WithHint("rackctl get servers lists the hub's servers, rackboot-agent servers those of this agent")
		}
		return resource.Trace{}, protocol.Errorf(protocol.CodeNotFound, op, "server %s was not powered on by this agent yet, as far as it remembers", server).
			WithHint("rackctl describe server %s says what it waits for", server)
	}
	var serials []int
	found := -1
	for i, k := range kept {
		serials = append(serials, k.Serial)
		if k.Serial == serial || serial == 0 {
			found = i
		}
	}
	if found < 0 {
		return resource.Trace{}, protocol.Errorf(protocol.CodeNotFound, op, "attempt %d of server %s is not kept; the agent has %v", serial, server, serials).
			WithHint("leave --attempt out for the newest")
	}
	out := kept[found]
	out.Kept, out.TraceID = serials, protocol.BootTraceID(server, out.Attempt)
	return out, nil
}

// traceable says whether what is seen now is laid to an attempt.
func traceable(a *decide.Attempt, now time.Time) bool {
	return a != nil && (a.Open() || now.Sub(a.Stage.Since) < traceAfter)
}
