package watch

import (
	"context"
	"log/slog"
	"slices"
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
	boards map[boardKey]*board
	rounds map[resource.Kind][]string // still to be looked at in this round
	open   map[*Watch]bool
	by     map[string]int // by caller
}

// New makes a Room. It follows the store from now on, and works while it runs.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg.withDefaults(), ended: make(chan struct{}), boards: map[boardKey]*board{}, rounds: map[resource.Kind][]string{}, open: map[*Watch]bool{}, by: map[string]int{}}
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
	for _, b := range r.boards {
		for _, name := range r.names(b.key.kind, b) {
			b.unknown(name, r.seq)
			b.dirty[name] = true
		}
	}
}

// look makes anew what is shown of a resource, and tells the watches of its kind if it says something else. Of one
// that came it tells them in any case: a watch that has just begun may have noted it before the others heard.
func (r *Room) look(kind resource.Kind, name string, came bool) {
	r.mu.Lock()
	boards := r.of(kind)
	watched := make([]bool, len(boards))
	any, status := false, false
	for i, b := range boards {
		delete(b.dirty, name)
		if watched[i] = len(b.watches) > 0; watched[i] {
			any, status = true, status || b.view.status()
		}
	}
	r.mu.Unlock()
	if len(boards) == 0 {
		return
	}
	now, err := r.shownIn(kind, name, boards, watched, any, status)
	if err != nil {
		r.cfg.Logger.Error("resource cannot be shown", "kind", kind, "name", name, "err", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, b := range boards {
		if now[i] == nil {
			r.seq++
			b.unknown(name, r.seq)
			if len(b.watches) > 0 { // one has begun meanwhile, with what was known before
				b.dirty[name] = true
			}
			continue
		}
		if b.take(now[i], r.seq+1, came) {
			r.seq++
			for w := range b.watches {
				w.queue.put(now[i], r.seq)
			}
		}
	}
}

// shownIn is what is shown now on each of the boards of a kind; nil where nobody watches, but of one that is gone.
func (r *Room) shownIn(kind resource.Kind, name string, boards []*board, watched []bool, any, status bool) ([]*shown, error) {
	now := make([]*shown, len(boards))
	stored := r.cfg.Store.Objects.PeekOf(kind, name)
	if stored == nil {
		none := gone(name)
		for i := range now {
			now[i] = none
		}
		return now, nil
	}
	if !any {
		return now, nil
	}
	m, err := r.show(stored, status)
	if err != nil {
		return nil, err
	}
	for i, b := range boards {
		if watched[i] {
			if now[i], err = m.cut(b.view); err != nil {
				return nil, err
			}
		}
	}
	return now, nil
}

// again has a resource looked at, and told whatever it says.
func (r *Room) again(b *board, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := b.entries[name]; e != nil {
		e.sum, e.recent = "", nil
	}
	b.dirty[name] = true
}

// placed are where the resources of a board were that are known, and that somebody does not have.
func (r *Room) placed(b *board, has map[string]bool) map[string]place {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]place{}
	for name, e := range b.entries {
		if e.sum != "" && !has[name] {
			out[name] = e.place
		}
	}
	return out
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
			if n.concerns(e, b.view.status()) {
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
	for key, b := range r.boards {
		for name := range b.dirty {
			if names = append(names, name); len(names) == stepSize {
				break
			}
		}
		if len(names) > 0 {
			return key.kind, names, restOfNews
		}
	}
	for kind, round := range r.rounds {
		n := min(len(round), stepSize)
		if names, round = round[:n], round[n:]; len(round) == 0 {
			delete(r.rounds, kind)
		} else {
			r.rounds[kind] = round
		}
		if r.watched(kind) {
			return kind, names, restOfRound
		}
		delete(r.rounds, kind)
	}
	return "", nil, 0
}

// watched reports whether somebody watches a kind. It needs r.mu.
func (r *Room) watched(kind resource.Kind) bool {
	return slices.ContainsFunc(r.of(kind), func(b *board) bool { return len(b.watches) > 0 })
}

// begin begins a round over all resources of the kinds that are watched, unless one is not over.
func (r *Room) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind := range r.rounds {
		if r.watched(kind) {
			return false
		}
	}
	clear(r.rounds)
	for key := range r.boards {
		if r.rounds[key.kind] == nil && r.watched(key.kind) {
			r.rounds[key.kind] = r.names(key.kind, r.of(key.kind)...)
		}
	}
	return true
}

// names are those of a kind that are stored, and those on boards of it. It needs r.mu.
func (r *Room) names(kind resource.Kind, boards ...*board) (out []string) {
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
	for _, b := range boards {
		for name := range b.entries {
			if !there[name] {
				there[name] = true
				out = append(out, name)
			}
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
	for key, b := range r.boards {
		if len(b.watches) == 0 && time.Since(b.left) > keepBoard {
			delete(r.boards, key)
			continue
		}
		b.lighten()
	}
}
