package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Decorator fills the status of a resource for printing.
type Decorator interface {
	Decorate(obj resource.Object)
}

// Config is what a Room is made of. Zero times and bounds have their defaults.
type Config struct {
	Store      *store.Store
	Status     Decorator
	Run        string // of this start of the hub: no other has it
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	// Gather is for how long news of reports is gathered; 1 s. Of a resource whose status alone changes watches
	// hear no more often.
	Gather time.Duration
	// Round is how often all resources that are watched are looked at, at most; 5 s.
	Round time.Duration
	// Most bounds the watches, MostOfCaller those of one caller; 1024 and 64.
	Most, MostOfCaller int
}

func (c Config) withDefaults() Config {
	if c.Gather == 0 {
		c.Gather = time.Second
	}
	if c.Round == 0 {
		c.Round = 5 * time.Second
	}
	if c.Most == 0 {
		c.Most = 1024
	}
	if c.MostOfCaller == 0 {
		c.MostOfCaller = 64
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Room looks at what changes, and tells watches. It is safe for concurrent use.
type Room struct {
	cfg     Config
	deltas  *store.Deltas
	stop    func()
	metrics metrics
	news    news
	ended   chan struct{} // closed when Run ends

	mu     sync.Mutex
	seq    uint64 // counts what has changed in this run
	boards map[resource.Kind]*board
	open   map[*Watch]bool
	by     map[string]int // by caller
}

// New makes a Room. It follows the store from now on, and works while it runs.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg.withDefaults(), ended: make(chan struct{}), boards: map[resource.Kind]*board{}, open: map[*Watch]bool{}, by: map[string]int{}}
	r.metrics = newMetrics(cfg.Registerer, r)
	r.deltas, r.stop = cfg.Store.Deltas()
	return r
}

// Told takes news of a server of a rack: it was reported of.
func (r *Room) Told(rack, server string) { r.news.told(rack, server) }

// Of what a step takes, the room rests this many times as long: status has a fifth of one processor, and rounds have a
// tenth.
const (
	restOfNews  = 4
	restOfRound = 9
)

// Run works until ctx ends, and then ends all watches. It is called once.
func (r *Room) Run(ctx context.Context) error {
	defer r.stop()
	defer close(r.ended)
	tick := time.NewTicker(r.cfg.Gather)
	defer tick.Stop()
	work := time.NewTimer(0)
	defer work.Stop()
	idle, round := false, time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.deltas.Ready():
			r.written(r.deltas.Take())
			continue
		case <-tick.C:
			r.heard(r.news.take())
			r.forget()
			if time.Since(round) >= r.cfg.Round && r.begin() {
				round = time.Now()
			}
			if idle {
				idle = false
				work.Reset(0)
			}
		case <-work.C:
			r.written(r.deltas.Take()) // what was written comes first
			began := time.Now()
			if rest := r.step(); rest > 0 {
				work.Reset(time.Duration(rest) * time.Since(began))
			} else {
				idle = true
			}
		}
	}
}

// written looks at once at what was written, and notes what else may follow from it.
func (r *Room) written(deltas []store.Delta, lost bool) {
	if lost {
		r.lost()
	}
	type key struct {
		kind resource.Kind
		name string
	}
	var order []key
	came := map[key]bool{} // whether it was not there before
	for _, d := range deltas {
		if d.Kind == "" {
			continue
		}
		r.news.written(d)
		k := key{d.Kind, d.Name}
		if _, seen := came[k]; !seen {
			order = append(order, k)
		}
		came[k] = came[k] || d.Old == nil
	}
	for _, k := range order {
		r.look(k.kind, k.name, came[k])
	}
}

// lost has everything looked at, and told again.
func (r *Room) lost() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	for kind, b := range r.boards {
		for _, name := range r.names(kind, b) {
			b.unknown(name, r.seq)
			b.dirty[name] = true
		}
	}
}

// look makes anew what is shown of a resource, and tells the watches of its kind if it says something else. Of one
// that came it tells them in any case: a watch that has just begun may have noted it before the others heard.
func (r *Room) look(kind resource.Kind, name string, came bool) {
	r.mu.Lock()
	b := r.boards[kind]
	if b == nil {
		r.mu.Unlock()
		return
	}
	delete(b.dirty, name)
	watched := len(b.watches) > 0
	r.mu.Unlock()
	stored := r.cfg.Store.Objects.PeekOf(kind, name)
	var now *shown
	switch {
	case stored == nil:
		now = gone(name)
	case watched:
		var err error
		if now, err = r.show(stored); err != nil {
			r.cfg.Logger.Error("resource cannot be shown", "kind", kind, "name", name, "err", err)
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now == nil {
		r.seq++
		b.unknown(name, r.seq)
		if len(b.watches) > 0 { // one has begun meanwhile, with what was known before
			b.dirty[name] = true
		}
		return
	}
	if b.take(now, r.seq+1, came) {
		r.seq++
		for w := range b.watches {
			w.queue.put(now, r.seq)
		}
	}
}

// heard notes what is to be looked at because somebody has said something of its server or rack.
func (r *Room) heard(n heard) {
	if n.empty() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.boards {
		for name, e := range b.entries {
			if n.concerns(e) {
				b.dirty[name] = true
			}
		}
	}
}

// stepSize is how many resources are looked at in one step, while nobody's writes are.
const stepSize = 16

// step looks at some of what is to be looked at. It returns how long to rest, times what it took; 0 where nothing
// is left.
func (r *Room) step() (rest int) {
	kind, names, rest := r.next()
	for _, name := range names {
		r.look(kind, name, false)
	}
	return rest
}

func (r *Room) next() (kind resource.Kind, names []string, rest int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, b := range r.boards {
		for name := range b.dirty {
			if names = append(names, name); len(names) == stepSize {
				break
			}
		}
		if len(names) > 0 {
			return kind, names, restOfNews
		}
	}
	for kind, b := range r.boards {
		if n := min(len(b.round), stepSize); n > 0 && len(b.watches) > 0 {
			names, b.round = b.round[:n], b.round[n:]
			return kind, names, restOfRound
		}
	}
	return "", nil, 0
}

// begin begins a round over all resources of the kinds that are watched, unless one is not over.
func (r *Room) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.boards {
		if len(b.round) > 0 && len(b.watches) > 0 {
			return false
		}
	}
	for kind, b := range r.boards {
		if b.round = nil; len(b.watches) > 0 {
			b.round = r.names(kind, b)
		}
	}
	return true
}

// names are those of a kind that are stored, and those on its board. It needs r.mu.
func (r *Room) names(kind resource.Kind, b *board) (out []string) {
	there := map[string]bool{}
	for at := ""; ; {
		objs := r.cfg.Store.Objects.AfterOf(kind, at, stride)
		for _, o := range objs {
			at = o.Head().Metadata.Name
			there[at] = true
			out = append(out, at)
		}
		if len(objs) < stride {
			break
		}
	}
	for name := range b.entries {
		if !there[name] {
			out = append(out, name)
		}
	}
	return out
}

// stride is how many resources are taken from the store at once, under its lock.
const stride = 256

// keepBoard is how long it is known what has changed of a kind that nobody watches: so long may a watch be away, and
// go on.
const keepBoard = 5 * time.Minute

// forget forgets the kinds that nobody has watched for long, and what was made long ago.
func (r *Room) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, b := range r.boards {
		switch {
		case len(b.watches) > 0:
			b.left = time.Time{}
		case b.left.IsZero():
			b.left = time.Now()
		case time.Since(b.left) > keepBoard:
			delete(r.boards, kind)
			continue
		}
		b.lighten()
	}
}
