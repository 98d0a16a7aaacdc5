package tftp

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// carrier carries transfers out: it takes the packets of their clients, sends what is due
// then, and keeps their time. There is one for each processor, and it never waits for a
// client or a file: what may block, which is opening, reading and closing files, has a
// goroutine of its own, one at a time for each transfer.
//
// What comes from elsewhere is posted, see post. The rest belongs to the goroutine of run.
type carrier struct {
	server *Server
	poller poller
	load   atomic.Int64 // transfers that it has

	mu     sync.Mutex
	posted []post
	taken  []post // posted is taken by changing places with it

	running map[socket]*transfer
	timers  timers
	stopped bool
	started bool // a goroutine, since it gave way to others
}

// post is what a carrier is told.
type post struct {
	of     *transfer // nil stops all
	result result    // resultOpen is a new transfer, empty one that was read up to block; else what ends it
	block  int64
}

func newCarrier(s *Server, p poller) *carrier {
	return &carrier{server: s, poller: p, running: make(map[socket]*transfer)}
}

// post tells the carrier something. It is safe for concurrent use.
func (c *carrier) post(p post) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.posted) == 0 {
		c.poller.wake() // within the lock: whoever closes it has what was posted
	}
	c.posted = append(c.posted, p)
}

// run carries transfers until it was told to stop and the last of them has ended.
func (c *carrier) run() {
	for !c.stopped || len(c.running) > 0 {
		if c.started { // it would run before this goroutine waits, which may take long
			c.started = false
			runtime.Gosched()
		}
		for _, s := range c.poller.wait(c.timers.next()) {
			if t := c.running[s]; t != nil && !t.over {
				c.turn(t, t.guarded(t.readable))
			}
		}
		c.read()
		now := time.Now()
		for t := c.timers.due(now); t != nil; t = c.timers.due(now) {
			c.turn(t, t.guarded(func() result { return t.late(now) }))
		}
	}
}

// close closes what the carrier waits by, after run has returned.
func (c *carrier) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.poller.Close() // nothing is in it
}

// read does what was posted.
func (c *carrier) read() {
	c.mu.Lock()
	c.posted, c.taken = c.taken[:0], c.posted
	c.mu.Unlock()
	for i, p := range c.taken {
		c.taken[i] = post{}
		switch {
		case p.of == nil:
			c.stop()
		case p.result == resultOpen:
			c.take(p.of)
		case p.of.over:
			c.leave(p.of)
		case p.result != "":
			p.of.filling = false
			c.turn(p.of, p.result)
		default:
			p.of.filling = false
			c.turn(p.of, p.of.guarded(func() result {
				p.of.filled(p.block, time.Now())
				return ""
			}))
		}
	}
}

// take begins a transfer that is open.
func (c *carrier) take(t *transfer) {
	c.running[t.sock] = t
	if c.stopped {
		c.turn(t, resultStopped)
		return
	}
	if err := c.poller.add(t.sock); err != nil {
		c.server.log.Warn("tftp transfer has no socket", "err", err)
		c.turn(t, resultSocket)
		return
	}
	c.turn(t, t.guarded(func() result {
		t.begin(time.Now())
		return ""
	}))
}

// turn ends a transfer that has a result, or sets its alarm and has the file read on.
func (c *carrier) turn(t *transfer, r result) {
	if r != "" {
		c.end(t, r)
		return
	}
	if block, ok := t.ring.wanted(t.flow.base); ok && !t.filling {
		t.filling, c.started = true, true
		go func() { // at most one for each transfer
			r := t.guarded(func() result {
				if err := t.ring.fill(c.server.pieces, block); err != nil {
					c.server.log.Warn("tftp file not read", "err", err)
					return resultReadError
				}
				return ""
			})
			c.post(post{t, r, block})
		}()
	}
	c.timers.set(t, t.wakes())
}

// end ends a transfer. It is left once nobody reads its file any more.
func (c *carrier) end(t *transfer, r result) {
	t.over, t.result = true, r
	c.timers.unset(t)
	t.farewell(r)
	c.poller.remove(t.sock)
	if !t.filling {
		c.leave(t)
	}
}

// leave has a transfer closed, which tells of it.
func (c *carrier) leave(t *transfer) {
	delete(c.running, t.sock)
	c.load.Add(-1)
	c.started = true
	go t.close(t.result)
}

// stop ends all transfers, and those that come later.
func (c *carrier) stop() {
	c.stopped = true
	for _, t := range c.running {
		if !t.over {
			c.end(t, resultStopped)
		}
	}
}
