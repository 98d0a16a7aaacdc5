package auditcopy

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Own is this hub's log in its folder; see package audit.
type Own interface {
	Read(from uint64, limit int) ([]protocol.AuditEntry, uint64, error)
	Since(at time.Time) uint64
	Head() (seq uint64, hash string)
	Export(ctx context.Context, w io.Writer, from uint64) error
}

// Journal is the stream; see package jetstream.
type Journal interface {
	Append(ctx context.Context, hub string, data []byte, after uint64) (uint64, error)
	Last(ctx context.Context, hub string) (state.Record, error)
	Next(ctx context.Context, hub string, from uint64) (state.Record, error)
	Read(ctx context.Context, hub string, from uint64, limit int) ([]state.Record, error)
	Writers(ctx context.Context) ([]string, error)
	Newest(ctx context.Context) (uint64, error)
}

// Config is what a Room needs. Logger may be nil.
type Config struct {
	Hub string // this one's name
	// Open opens the stream; it is called again until it does.
	Open func(ctx context.Context) (Journal, error)
	// Head is the last entry of a hub's log that the hubs' store knows; the zero Head if it knows none.
	Head func(ctx context.Context, hub string) (auditlog.Head, error)
	// Hubs are the names of those that have told the store that they share it.
	Hubs   func() []string
	Signer *wire.Signer
	Clock  state.Clock
	Logger *slog.Logger
}

const (
	// copyEvery is how often the files are looked at for what is not copied; retryAfter is the pause after a failure.
	copyEvery  = 250 * time.Millisecond
	retryAfter = time.Second
	// headsEvery is how often the others' heads are asked for.
	headsEvery = 2 * time.Second
	// headWait bounds how long the head in the store waits for the copy.
	headWait = 5 * time.Second
	// exportWait bounds how long an export waits for what is not copied yet.
	exportWait = 10 * time.Second
	// askTimeout bounds a look at the stream or the store.
	askTimeout = 15 * time.Second
)

// Room copies this hub's log, and has those of the others. It is safe for concurrent use.
type Room struct {
	cfg     Config
	log     *slog.Logger
	metrics *counters
	stop    context.CancelFunc
	running sync.WaitGroup
	opening sync.Mutex // who opens the stream

	mu      sync.Mutex
	own     Own     // nil before Start
	journal Journal // nil until it is opened
	copied  auditlog.Head
	moved   chan struct{} // is closed when copied has moved
	behind  time.Time     // since when entries wait to be copied; zero if none do
	wrong   *auditlog.Finding
	others  map[string]auditlog.Head

	// Of who copies alone:
	looked   bool   // the stream was held to the files
	last     uint64 // sequence of this hub's last record
	next     uint64 // entry to go on with
	skipping bool
	failing  bool
}

// New makes a Room that copies nothing before Start.
func New(cfg Config) *Room {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Room{cfg: cfg, log: cfg.Logger, metrics: newCounters(), stop: func() {}, moved: make(chan struct{}), others: map[string]auditlog.Head{}}
}

// Start copies from now on what own has.
func (r *Room) Start(own Own) {
	ctx, cancel := context.WithCancel(context.Background()) // what is written as the hub stops is copied too
	r.stop = cancel
	r.mu.Lock()
	r.own = own
	r.mu.Unlock()
	r.running.Go(func() { r.every(ctx, copyEvery, r.turn) })
	r.running.Go(func() {
		r.every(ctx, headsEvery, func(ctx context.Context) error {
			err := r.look(ctx)
			if err != nil && ctx.Err() == nil {
				r.log.Debug("the ends of the other hubs' audit logs are as they were", "err", err)
			}
			return err
		})
	})
}

func (r *Room) started() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.own != nil
}

// Close ends the copy, wherever it is. The log is closed first: it waits until its last entry is copied.
func (r *Room) Close() {
	r.stop()
	r.running.Wait()
}

// every does something, and again after a pause that it may make longer.
func (r *Room) every(ctx context.Context, pause time.Duration, do func(context.Context) error) {
	for {
		wait := pause
		if err := do(ctx); err != nil {
			wait = max(pause, retryAfter)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// stream is the journal, opened if it is not yet.
func (r *Room) stream(ctx context.Context) (Journal, error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	if j := r.opened(); j != nil {
		return j, nil
	}
	j, err := r.cfg.Open(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journal = j
	return j, nil
}

func (r *Room) opened() Journal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.journal
}

// Wrong says why nothing is copied any more: the stream and the files differ. Nil is that they do not.
func (r *Room) Wrong() *auditlog.Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrong
}
