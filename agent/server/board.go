package server

import (
	"context"
	"log/slog"
	"strings"
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
)

// board is which board and interfaces one server has, and when that is read again.
type board struct {
	cfg     *Config
	log     *slog.Logger
	server  string
	surveys chan struct{} // held while a board is read; of all servers
	signals *signals
	inbox   *inbox

	asked    chan struct{}          // for the board to be read
	host     atomic.Pointer[string] // the BMC's
	powerLog atomic.Pointer[string] // where the BMC's log is that tells of power cycles; empty without one
	at       atomic.Int64           // when the board was last read, in seconds of Unix time
}

// reread asks for the board to be read soon: the BMC is new, was away, or has given a
// new session, and may be another one.
func (b *board) reread() {
	select {
	case b.asked <- struct{}{}:
	default:
	}
}

// watch reads which board and interfaces the server has, beside its loop and with
// a driver of its own, so that it delays nothing.
func (b *board) watch(ctx context.Context) {
	wait := boardPauseMin
	timer := time.NewTimer(boardEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-b.asked:
			// A login comes right after its driver: one read is enough for both.
			select {
			case <-ctx.Done():
				return
			case <-time.After(boardQuiet):
			}
			select {
			case <-b.asked:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case b.surveys <- struct{}{}:
		}
		known, err := b.read(ctx)
		<-b.surveys
		next := boardEvery
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			b.log.Warn("board and interfaces could not be read", "err", err)
			fallthrough
		case !known:
			next, wait = wait, min(2*wait, boardPauseMax)
		default:
			wait = boardPauseMin
		}
		timer.Reset(jitter(next))
	}
}

// read hands what identifies the server to the next step; it reports whether
// there was anything.
func (b *board) read(ctx context.Context) (known bool, err error) {
	if b.cfg.Hub.Over() {
		return true, nil // nothing is read any more
	}
	v, err := b.cfg.Store.Server(b.server)
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
