package agent

import (
	"context"
	"math/rand/v2"
	"strings"
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

// reread asks for the board to be read soon: the BMC is new, was away, or has given a
// new session, and may be another one.
func (s *server) reread() {
	select {
	case s.boards <- struct{}{}:
	default:
	}
}

// watchBoard reads which board and interfaces the server has, beside its loop and with
// a driver of its own, so that it delays nothing.
func (s *server) watchBoard(ctx context.Context) {
	wait := boardPauseMin
	timer := time.NewTimer(boardEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.boards:
			// A login comes right after its driver: one read is enough for both.
			select {
			case <-ctx.Done():
				return
			case <-time.After(boardQuiet):
			}
			select {
			case <-s.boards:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case s.agent.surveys <- struct{}{}:
		}
		known, err := s.readBoard(ctx)
		<-s.agent.surveys
		next := boardEvery
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Warn("board and interfaces could not be read", "err", err)
			fallthrough
		case !known:
			next, wait = wait, min(2*wait, boardPauseMax)
		default:
			wait = boardPauseMin
		}
		timer.Reset(jitter(next))
	}
}

// readBoard hands what identifies the server to the next step; it reports whether
// there was anything.
func (s *server) readBoard(ctx context.Context) (known bool, err error) {
	if s.agent.link.Over() {
		return true, nil // nothing is read any more
	}
	v, err := s.agent.store.Server(s.name)
	if err != nil || v.Intent == nil {
		return false, err
	}
	w, err := s.agent.accounts.Way(s.name, v.Intent.BMC, v.Intent.SystemURI)
	if err != nil {
		return false, nil // the loop says so
	}
	if _, denied := s.agent.denied.Of(w.Account); denied {
		return false, nil
	}
	d, err := s.agent.cfg.OpenBMC(w.Target)
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
	s.powerLog.Store(&safety.Detection.PowerLog)
	s.mu.Lock()
	s.safety = &safety
	s.mu.Unlock()
	if known {
		s.mu.Lock()
		s.board = &id
		s.boardAt.Store(s.agent.cfg.Clock().Unix())
		s.mu.Unlock()
		s.poke()
	}
	return known, nil
}

// jitter is d ± 20 %: agents and servers that start together do not stay in step.
func jitter(d time.Duration) time.Duration {
	return d*4/5 + rand.N(max(1, d*2/5))
}

// loggedIn is told of each new session at a BMC: one that forgot the last may have been
// changed. BMCs that forget them all the time are not read each time.
func (a *Agent) loggedIn(host string) {
	for _, s := range a.loops.all() {
		if at := s.host.Load(); at != nil && *at == host && a.cfg.Clock().Unix()-s.boardAt.Load() > int64(boardFresh/time.Second) {
			s.reread()
		}
	}
}

// hostOf is the host[:port] of a BMC's address.
func hostOf(address string) string {
	_, host, _ := strings.Cut(address, "://")
	return strings.TrimRight(host, "/")
}
