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
	done   chan struct{}
	woken  chan struct{}
	open   bool // it is read, or will be again

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
		done: make(chan struct{}), woken: make(chan struct{}, 1), open: true, back: make(chan struct{}, 1),
	}
	x.by[address] = st
	var both sync.WaitGroup
	both.Go(func() {
		x.read(ctx, st, src)
		if sub, ok := src.(bmc.Subscriber); ok && ctx.Err() == nil {
			x.subscribe(ctx, run, st, sub)
		}
	})
	both.Go(func() { x.wake(ctx, st) })
	go func() {
		both.Wait()
		close(st.done)
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
			st.event()
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

// event wakes the servers behind the BMC soon.
func (st *stream) event() {
	select {
	case st.woken <- struct{}{}:
	default:
	}
}

// wake lets the servers behind the BMC be read, not too often.
func (x *Room) wake(ctx context.Context, st *stream) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.woken:
		}
		x.mu.Lock()
		for s := range st.users {
			s.Woken()
		}
		x.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(wakePause):
		}
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
