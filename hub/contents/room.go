package contents

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state"
)

// Bucket has the pieces.
type Bucket interface {
	// Ready says why it cannot be used, and looks what ID it has.
	Ready(ctx context.Context) error
	// ID names what there was at the last look; another ID has nothing of what was.
	ID() string
	Put(ctx context.Context, digest string, size int64, content io.ReaderAt, anew bool) (sent int64, err error)
	Open(ctx context.Context, digest string, size, offset int64) (io.ReadCloser, error)
	Remove(ctx context.Context, digest string) error
	Digests(ctx context.Context) ([]string, error)
	Used(ctx context.Context) (uint64, error)
}

// Config is what a Room is made of.
type Config struct {
	Store  *store.Store
	Bucket Bucket
	// Quota bounds what the servers have, in bytes.
	Quota int64
	// Needed are contents that stay on the servers although no folder of this hub is to have them: what the registry of
	// other hubs has. Nil is none.
	Needed func() (map[string]bool, error)
	// Works reports whether this hub works the site, and Under has writes expect that it still does.
	Works func() bool
	Under func(ctx context.Context) context.Context

	Clock      state.Clock
	NewID      func() string
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Room keeps contents on the servers. It is safe for concurrent use.
type Room struct {
	cfg     Config
	shelves []Shelf // set before anything is asked
	metrics *metrics
	poked   chan struct{}
	under   sync.WaitGroup

	mu     sync.Mutex
	asked  map[string]bool     // what agents wait for
	busy   map[string]work     // by digest
	failed map[string]failure  // by digest
	seen   map[string]sighting // of records, by digest
	idle   map[string]sighting // of records that nobody needs, by digest
	said   complaint           // why nothing can be done
	unseen complaint           // why it is not known what the servers have
}

// complaint is what was logged last; it is logged once.
type complaint string

// news reports whether an error is another one than the last; nil ends the last.
func (c *complaint) news(err error) bool {
	was := *c
	if *c = ""; err != nil {
		*c = complaint(err.Error())
	}
	return err != nil && *c != was
}

// failure is what did not succeed, and when it is tried again.
type failure struct {
	times int
	until time.Time
}

// sighting is since when a record has its revision.
type sighting struct {
	revision uint64
	since    time.Time
}

// New makes a Room, and registers its metrics. Serve says whose folders it is for.
func New(cfg Config) (*Room, error) {
	m := newMetrics()
	if err := cfg.Registerer.Register(m); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "keep contents", "%w", err)
	}
	return &Room{
		cfg: cfg, metrics: m, poked: make(chan struct{}, 1), asked: map[string]bool{}, busy: map[string]work{},
		failed: map[string]failure{}, seen: map[string]sighting{}, idle: map[string]sighting{},
	}, nil
}

// Serve says whose folders it is for. It is called once, before anything else.
func (r *Room) Serve(shelves ...Shelf) { r.shelves = shelves }

// Whole reports whether all of a content is on the servers, as this hub has heard.
func (r *Room) Whole(digest string) bool { return r.state(digest) == store.ContentWhole }

// state is what the servers have of a content, as this hub has heard: in a bucket that was made anew there is nothing.
func (r *Room) state(digest string) store.ContentState {
	c, err := r.cfg.Store.Contents.Get(digest)
	if err != nil || c.Bucket != r.cfg.Bucket.ID() && c.State != store.ContentGoing {
		return recordNone
	}
	return c.State
}

// maxAsked bounds the contents that are fetched before others; there are few.
const maxAsked = 1024

// Want has a content fetched before others, and reports whether there is one to fetch.
func (r *Room) Want(digest string) bool {
	whole := r.Whole(digest)
	if !whole && r.cfg.Bucket.ID() != "" {
		return false
	}
	r.mu.Lock()
	if whole && len(r.asked) < maxAsked {
		r.asked[digest] = true
	}
	r.mu.Unlock()
	select { // also where it was not looked yet what the servers have
	case r.poked <- struct{}{}:
	default:
	}
	return whole
}

const (
	lookEvery  = 15 * time.Second
	pokedEvery = time.Second
	// quietFor is how long nobody needs a content before it is removed: a document that names it may be on its way into the
	// ledger. Who puts a content touches its record every renewEvery.
	quietFor   = 10 * time.Minute
	renewEvery = 30 * time.Second
	// restFor is how long nobody has touched the record of a content that was coming until another hub goes on with it.
	restFor = 2 * time.Minute
	// sweepEvery is how often it is looked for pieces that are in no book.
	sweepEvery = time.Hour
)

// Run fetches, puts and removes until ctx ends. It returns nil once all that it began has ended.
func (r *Room) Run(ctx context.Context) error {
	defer r.under.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var swept time.Time
	for {
		if r.round(ctx) && r.cfg.Clock().Sub(swept) >= sweepEvery && r.sweep(ctx) == nil {
			swept = r.cfg.Clock()
		}
		select { // what is poked all the time is looked at once a second
		case <-ctx.Done():
			return nil
		case <-time.After(pokedEvery):
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-r.poked:
		}
	}
}

// round does once what is to be done, and reports whether this hub works the site and nothing hindered it. The records are
// read before what is named: a name that was written before a record's revision is here then, and one that is written
// later changes the record, so that this hub's word that it goes is refused.
func (r *Room) round(ctx context.Context) bool {
	records := r.cfg.Store.Contents.List()
	all, named, err := r.stands()
	var needed map[string]bool
	if err == nil {
		needed, err = r.needed(named)
	}
	if err == nil && len(named)+len(records) > 0 { // else nothing is asked of the servers
		err = r.cfg.Bucket.Ready(ctx)
	}
	r.say(ctx, err)
	if err != nil {
		r.count(all, named)
		r.mu.Lock()
		defer r.mu.Unlock()
		clear(r.idle) // nor is it known what was needed meanwhile
		return false
	}
	r.look(ctx, all, named)
	if !r.cfg.Works() {
		return false
	}
	r.remove(ctx, records, needed)
	return true
}

// say logs why nothing can be done, once.
func (r *Room) say(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said.news(err) && ctx.Err() == nil {
		r.cfg.Logger.Warn("uploaded files and images are neither fetched from the servers of the store nor put or removed there", "err", err, "hint", protocol.HintOf(err))
	}
}

// quiet reports whether a record has had its revision for so long.
func (r *Room) quiet(c store.Content, long time.Duration) bool {
	now := r.cfg.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[c.Digest]
	if s.revision != c.Revision || s.since.IsZero() {
		s = sighting{c.Revision, now}
		r.seen[c.Digest] = s
	}
	return now.Sub(s.since) >= long
}
