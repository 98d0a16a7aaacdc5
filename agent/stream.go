package agent

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

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

// streams are the BMCs' event streams: one for each BMC, whatever the systems behind
// it, because some allow two. Events only make the next read come sooner. It is safe
// for concurrent use.
type streams struct {
	agent *Agent

	mu sync.Mutex
	by map[string]*stream // by the BMC's address

	hooks *hooks
	// destination is where the BMC of a server sends events to, below which path.
	destination func(server, address, path string) (string, error)
}

// stream is one that is read, or that its BMC does not have: then it is not tried
// again with the same driver, and the BMC is subscribed to.
type stream struct {
	owner  *server // whose driver reads it
	users  map[*server]bool
	cancel context.CancelFunc
	done   chan struct{}
	woken  chan struct{}
	open   bool // it is read, or will be again

	address    string
	back       chan struct{} // the BMC was away, which a subscription may not outlive
	subscribed bool
}

func newStreams(a *Agent) *streams {
	return &streams{agent: a, by: map[string]*stream{}, hooks: newHooks(a), destination: a.destination}
}

// follow wakes the server at events of its BMC, through src if nobody reads them yet.
func (x *streams) follow(ctx context.Context, address string, src bmc.EventSource, s *server) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if st := x.by[address]; st != nil {
		st.users[s] = true
		return
	}
	run := ctx
	ctx, cancel := context.WithCancel(ctx)
	st := &stream{
		owner: s, users: map[*server]bool{s: true}, cancel: cancel, address: address,
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

// leave ends the stream that is read through the server's driver, and returns when it
// has ended. Another server behind the BMC begins one with its next read.
func (x *streams) leave(address string, s *server) {
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
func (x *streams) read(ctx context.Context, st *stream, src bmc.EventSource) {
	log, wait := st.owner.log, streamPauseMin
	for {
		began := time.Now()
		err := src.Events(ctx, func() {
			x.agent.met.bmcEvents.Inc()
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
func (x *streams) wake(ctx context.Context, st *stream) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.woken:
		}
		x.mu.Lock()
		for s := range st.users {
			s.woken.Store(true)
			s.poke()
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
func (x *streams) count() (open, subscribed int) {
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
