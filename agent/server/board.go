package server

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// A server's board is read again every boardEvery, and after a failure, ± 20 %. Reads
// of all servers share boardsAtOnce.
const (
	boardEvery    = 6 * time.Hour
	boardPauseMin = time.Minute
	boardPauseMax = 30 * time.Minute
	boardTimeout  = 3 * time.Minute
	boardsAtOnce  = 2
	boardQuiet    = time.Second
	boardFresh    = 10 * time.Minute
	boardAgain    = 2 * time.Minute
)

// board is which board and interfaces one server has, and when that is read again.
type board struct {
	cfg     *Config
	log     *slog.Logger
	server  string
	surveys chan struct{} // held while a board is read; of all servers
	signals *signals
	inbox   *inbox

	host     atomic.Pointer[string] // the BMC's
	powerLog atomic.Pointer[string] // where the BMC's log is that tells of power cycles; empty without one
	at       atomic.Int64           // when the board was last read, in seconds of Unix time

	mu    sync.Mutex
	timer *time.Timer   // for the next read; nil before begin
	pause time.Duration // after the next failure
	asked bool          // to be read soon; false again when a read begins
	done  chan struct{} // closed when the read ends that goes on; nil while nothing is read
	over  bool          // no read begins any more
}

// begin has the board read when it is due, beside the loop and with a driver of its own, so
// that it delays nothing. Between reads it has no goroutine. Reads end with ctx; end must be
// called.
func (b *board) begin(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pause = boardPauseMin
	b.timer = time.AfterFunc(boardEvery, func() { b.due(ctx) })
	b.hurry()
}

// end returns when no read goes on, and none will.
func (b *board) end() {
	b.mu.Lock()
	b.over = true
	b.timer.Stop()
	done := b.done
	b.mu.Unlock()
	if done != nil {
		<-done
	}
}

// reread asks for the board to be read soon: the BMC is new, was away, or has given a
// new session, and may be another one.
func (b *board) reread() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asked {
		b.asked = true
		b.hurry()
	}
}

// again asks for the board to be read soon because a boot waits for something that it said, unless that
// was a moment ago.
func (b *board) again() {
	if b.cfg.Clock().Unix()-b.at.Load() > int64(boardAgain/time.Second) {
		b.reread()
	}
}

// hurry sets the timer if somebody asks. A login comes right after its driver: one read is
// enough for both. It needs b.mu.
func (b *board) hurry() {
	if b.asked && b.timer != nil && b.done == nil && !b.over {
		b.timer.Reset(boardQuiet)
	}
}

// due reads the board, and sets the timer for the next time. It is the timer's.
func (b *board) due(ctx context.Context) {
	b.mu.Lock()
	if b.over || b.done != nil {
		b.mu.Unlock()
		return
	}
	b.asked = false
	done := make(chan struct{})
	b.done = done
	b.mu.Unlock()
	defer close(done)
	known, err := b.survey(ctx)
	if err != nil && ctx.Err() == nil {
		b.log.Warn("board and interfaces could not be read", "err", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = nil
	next := boardEvery
	if known && err == nil {
		b.pause = boardPauseMin
	} else {
		next, b.pause = b.pause, min(2*b.pause, boardPauseMax)
	}
	if !b.over {
		b.timer.Reset(jitter(next))
		b.hurry()
	}
}

// survey reads the board when it is this server's turn.
func (b *board) survey(ctx context.Context) (known bool, err error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case b.surveys <- struct{}{}:
	}
	defer func() { <-b.surveys }()
	return b.read(ctx)
}

// read hands what identifies the server to the next step; it reports whether
// there was anything.
func (b *board) read(ctx context.Context) (known bool, err error) {
	if b.cfg.Hub.Over() {
		return true, nil // nothing is read any more
	}
	v, err := b.cfg.Store.Servers.View(b.server)
	if err != nil || v.Intent == nil {
		return false, err
	}
	w, err := b.cfg.Accounts.Way(b.server, v.Intent.BMC, v.Intent.SystemURI)
	if err != nil {
		return false, nil // the loop says so
	}
	if _, denied := b.cfg.Denied.Of(w.Account); denied {
		return false, nil
	}
	d, err := b.cfg.OpenBMC(w.Target)
	if err != nil {
		return false, err
	}
	defer func() { _ = d.Close() }() // the session ends by itself if this fails
	expect(d, knownAs(v.Record.Identity))
	reader, ok := d.(bmc.Inventorier)
	if !ok {
		return true, nil // never
	}
	ctx, cancel := context.WithTimeout(ctx, boardTimeout)
	defer cancel()
	inv, err := reader.Inventory(ctx)
	if err != nil {
		return false, err
	}
	id, known := decide.IdentityOf(inv)
	safety := protocol.SafetyOf(inv)
	b.powerLog.Store(&safety.Detection.PowerLog)
	if !known {
		b.inbox.read(nil, &safety)
		return false, nil
	}
	b.inbox.read(&id, &safety)
	b.at.Store(b.cfg.Clock().Unix())
	b.signals.poke()
	return true, nil
}

// loggedIn is told of each new session at a BMC: one that forgot the last may have been
// changed. BMCs that forget them all the time are not read each time.
func (b *board) loggedIn(host string) {
	if at := b.host.Load(); at != nil && *at == host && b.cfg.Clock().Unix()-b.at.Load() > int64(boardFresh/time.Second) {
		b.reread()
	}
}

// hostOf is the host[:port] of a BMC's address.
func hostOf(address string) string {
	_, host, _ := strings.Cut(address, "://")
	return strings.TrimRight(host, "/")
}

// expect tells a driver which machine its system is, where it wants to know.
func expect(d bmc.Driver, id bmc.SystemID) {
	if f, ok := d.(bmc.Finder); ok {
		f.Expect(id)
	}
}

// knownAs is the identity that is trusted of a server, as a driver takes it.
func knownAs(k *decide.Known) bmc.SystemID {
	if k == nil {
		return bmc.SystemID{}
	}
	return bmc.SystemID{UUID: k.Trusted.UUID, Serial: k.Trusted.Serial}
}
