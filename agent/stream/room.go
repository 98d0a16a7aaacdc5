package stream

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc"
	"rackboot/protocol"
)

const (
	// A stream that ends is opened again after a pause that doubles, ± 50 %.
	streamPauseMin = time.Second
	streamPauseMax = 5 * time.Minute
	// wakePause is the least time between two reads that events cause.
	wakePause = 500 * time.Millisecond
)

// Config is what the room is made of.
type Config struct {
	Agent       string // id, by which a subscription is known
	Destination Destination
	NewID       func() string // makes the key of this run's paths
	Logger      *slog.Logger
	Registerer  prometheus.Registerer
}

// Destination is what this room asks about where BMCs send events to.
type Destination interface {
	// Destination returns the base URL of the agent's HTTP server that the BMC of a server
	// reaches. The code is unavailable where there is none.
	Destination(server, address string) (base string, err error)
}

// Server is one that events of its BMC wake. It is compared: one loop has one.
type Server interface {
	// Name is that of the server.
	Name() string
	// Woken makes the server be read soon, because of an event. It does not wait.
	Woken()
}

// Room has the BMCs' event streams: one for each BMC, whatever the systems behind
// it, because some allow two. Events only make the next read come sooner. It is safe
// for concurrent use.
type Room struct {
	cfg   Config
	hooks *hooks
	met   *metrics

	mu sync.Mutex
	by map[string]*stream // by the BMC's address
}

// stream is one that is read, or that its BMC does not have: then it is not tried
// again with the same driver, and the BMC is subscribed to.
type stream struct {
	owner  Server // whose driver reads it
	users  map[Server]bool
	cancel context.CancelFunc
	done   chan struct{} // closed when nothing of it goes on
	open   bool          // it is read, or will be again

	pause *time.Timer // after servers were woken; nil while the next event wakes them at once
	again bool        // an event came in the pause

	address    string
	back       chan struct{} // the BMC was away, which a subscription may not outlive
	subscribed bool
}

// New makes the room.
func New(cfg Config) *Room {
	x := &Room{cfg: cfg, by: map[string]*stream{}}
	x.met = newMetrics(x)
	x.hooks = newHooks(cfg.NewID, x.met)
	return x
}

// Hooks answers BMCs that send events.
func (x *Room) Hooks() http.Handler { return x.hooks }

func (x *Room) log(s Server) *slog.Logger { return x.cfg.Logger.With("server", s.Name()) }

// Follow wakes the server at events of its BMC, through src if nobody reads them yet.
func (x *Room) Follow(ctx context.Context, address string, src bmc.EventSource, s Server) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if st := x.by[address]; st != nil {
		st.users[s] = true
		return
	}
	run := ctx
	ctx, cancel := context.WithCancel(ctx)
	st := &stream{
		owner: s, users: map[Server]bool{s: true}, cancel: cancel, address: address,
		done: make(chan struct{}), open: true, back: make(chan struct{}, 1),
	}
	x.by[address] = st
	go func() {
		defer close(st.done)
		x.read(ctx, st, src)
		if sub, ok := src.(bmc.Subscriber); ok && ctx.Err() == nil {
			x.subscribe(ctx, run, st, sub)
		}
	}()
}

// Leave ends the stream that is read through the server's driver, and returns when it
// has ended. Another server behind the BMC begins one with its next read.
func (x *Room) Leave(address string, s Server) {
	x.mu.Lock()
	st := x.by[address]
	if st == nil {
		x.mu.Unlock()
		return
	}
	delete(st.users, s)
	owner := st.owner == s
	if owner {
		delete(x.by, address)
		st.quiet()
	}
	x.mu.Unlock()
	if owner {
		st.cancel()
		<-st.done
	}
}

// read reads events until ctx ends, or the BMC has none.
func (x *Room) read(ctx context.Context, st *stream, src bmc.EventSource) {
	log, wait := x.log(st.owner), streamPauseMin
	for {
		began := time.Now()
		err := src.Events(ctx, func() {
			x.met.events.Inc()
			x.event(st)
		})
		if ctx.Err() != nil {
			return
		}
		switch protocol.CodeOf(err) {
		case protocol.CodeUnsupported, protocol.CodeDenied: // the next driver tries again
			log.Info("no events of the BMC", "err", err)
			x.mu.Lock()
			st.open = false
			x.mu.Unlock()
			return
		default:
			log.Debug("the BMC's event stream ended", "err", err)
		}
		if time.Since(began) > streamPauseMax {
			wait = streamPauseMin
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait/2 + rand.N(wait)):
		}
		wait = min(2*wait, streamPauseMax)
	}
}

// event wakes the servers behind the BMC, not too often. It does not wait.
func (x *Room) event(st *stream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if st.pause != nil {
		st.again = true
		return
	}
	if x.by[st.address] == st { // otherwise it has ended
		x.wake(st)
	}
}

// wake wakes the servers, and begins a pause. It needs x.mu.
func (x *Room) wake(st *stream) {
	for s := range st.users {
		s.Woken()
	}
	st.pause = time.AfterFunc(wakePause, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		again := st.again && x.by[st.address] == st
		st.pause, st.again = nil, false
		if again {
			x.wake(st)
		}
	})
}

// quiet ends the pause of a stream that has ended. It needs the room's mu.
func (st *stream) quiet() {
	if st.pause != nil {
		st.pause.Stop()
	}
}

// count is how many are open, and how many BMCs without one are subscribed to.
func (x *Room) count() (open, subscribed int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, st := range x.by {
		if st.open {
			open++
		}
		if st.subscribed {
			subscribed++
		}
	}
	return open, subscribed
}

// jitter is d ± 20 %: BMCs that were subscribed to together do not stay in step.
func jitter(d time.Duration) time.Duration {
	return d*4/5 + rand.N(max(1, d*2/5))
}
