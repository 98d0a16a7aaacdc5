package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"rackboot/agent"
	"rackboot/agent/guard"
	"rackboot/agent/store"
	"rackboot/internal/metrics"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/clock"
)

// errReopen ends an agent over a frozen store: there is one again.
var errReopen = errors.New("there is a store again")

// The pauses between two tries to open a store: that has no room, or that fails otherwise.
const (
	reopenRoom = time.Second
	reopenElse = 5 * time.Second
)

// closeWithin bounds the closing of a store, whose disk may hang.
const closeWithin = 10 * time.Second

// stores opens the agent's store, or what there is in its place.
type stores struct {
	cfg   Config
	log   *slog.Logger
	guard *guard.Guard
	// anchor is what is known of the store beside it; nil where that cannot be had.
	anchor *anchor
	known  store.Anchor
	reg    metrics.Registry
	every  time.Duration // between two tries

	failed error   // why the last store was given up; nil if it was not
	next   *opened // that was opened while the agent had a frozen one
	hangs  bool    // one could not be closed: its files are still this process's
	last   string  // what was last said of why there is none

	mu sync.Mutex
	db state.Store // that the agent has; nil between two
}

// opened is a store that is open.
type opened struct {
	db     state.Store
	frozen bool // it is made of the guard set
	reg    *leased
}

// probe says whether the store that there is can be written and read.
func (s *stores) probe(ctx context.Context) error {
	s.mu.Lock()
	db := s.db
	s.mu.Unlock()
	if m, on := s.guard.Mode(); on || db == nil {
		return protocol.Errorf(protocol.CodeUnavailable, "probe the store", "guard mode: %s", m.Cause)
	}
	return store.Probe(ctx, db, clock.Now())
}

// open opens the store, or freezes the guard set in its place. It waits where there is neither.
// An error is that the agent must not start.
func (s *stores) open(ctx context.Context) (o opened, err error) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.db = o.db
	}()
	why := s.failed
	s.failed = nil
	if s.next != nil {
		o, s.next = *s.next, nil
		s.guard.Thaw()
		return o, nil
	}
	if why == nil {
		var v guard.Verdict
		if o, v, why = s.try(); v == guard.VerdictServe {
			s.guard.Thaw()
			return o, nil
		} else if v == guard.VerdictRefuse {
			return opened{}, why
		}
	}
	s.guard.Begin(why, true)
	set, has := s.guard.Set()
	if !has {
		s.log.Error("there is no store and no guard set: what is held is not known, and nothing is guarded until the store opens", "err", why)
		if err := s.retry(ctx); !errors.Is(err, errReopen) {
			return opened{}, err
		}
		return s.open(ctx)
	}
	pairs, err := store.Seed(set)
	if err != nil {
		return opened{}, err
	}
	s.log.Error("there is no store; what is held is guarded by the guard set", "servers", len(set.Servers), "err", why)
	return opened{db: guard.Freeze(pairs, why), frozen: true}, nil
}

// retry returns errReopen when there is a store again, and otherwise when ctx ends, or the agent
// must not go on.
func (s *stores) retry(ctx context.Context) error {
	for pause := min(s.every, reopenRoom); ; {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		o, v, why := s.try()
		switch v {
		case guard.VerdictServe:
			s.next = &o
			return errReopen
		case guard.VerdictRefuse:
			return why
		case guard.VerdictGuard, guard.VerdictLost, guard.VerdictBegin:
		}
		if pause = s.every; protocol.CodeOf(why) == protocol.CodeUnavailable {
			pause = min(pause, reopenRoom)
		}
	}
}

// try opens the store, and says what to make of it. Only one that is to serve is open
// afterwards. why is the reason for another verdict.
func (s *stores) try() (o opened, v guard.Verdict, why error) {
	found := guard.Found{Opens: guard.OpensWell, Set: guard.SetNone, Accepted: accepted(s.cfg.DataDir) != nil}
	if set, has := s.guard.Set(); has && len(set.Incarnations) > 0 {
		found.Set = guard.SetWhole
	} else if s.guard.Damaged() {
		found.Set = guard.SetDamaged
	}
	if found.Set != guard.SetNone && !found.Accepted && s.gone() {
		// What is opened is made; and whoever puts the store back in that moment loses files of it, when
		// what was made is closed.
		found.Identity = guard.IdentityNone
	} else if o, why = s.openBadger(); why != nil {
		found.Opens = s.opens(why)
	} else if found.Identity, why = s.identity(o.db); why != nil && found.Identity == "" {
		found.Opens = guard.OpensNot
	}
	v = guard.Decide(found)
	if v == guard.VerdictLost && found.Identity != guard.IdentityLess {
		why = protocol.Errorf(protocol.CodeInternal, "open store", "the database in %s is not the one that this agent had, which may hold servers that this one knows nothing of", s.cfg.path("state")).
			WithHint("put its own back, or its newest copy; if it is lost: rackboot-agent accept-loss --reason REASON")
	}
	if v != guard.VerdictServe && o.db != nil {
		why = errors.Join(why, s.close(o))
		o = opened{}
	}
	if v == guard.VerdictBegin {
		if why = s.begin(why, found.Opens == guard.OpensNot || found.Identity == guard.IdentityLess); why == nil {
			return s.try()
		}
		v = guard.VerdictGuard
	}
	if v == guard.VerdictServe {
		dismiss(s.cfg.DataDir, s.log)
	}
	s.say(why)
	return o, v, why
}

// say logs why there is no store, when that is news.
func (s *stores) say(why error) {
	text := ""
	if why != nil {
		text = string(protocol.CodeOf(why)) + protocol.HintOf(why)
	}
	if text != s.last && why != nil {
		s.log.Error("the store cannot be had", "err", why)
	}
	s.last = text
}

// gone reports whether there is no database, though there was one.
func (s *stores) gone() bool {
	_, err := os.Stat(s.cfg.path("state", "MANIFEST"))
	return errors.Is(err, fs.ErrNotExist)
}

// openBadger opens what is on disk.
func (s *stores) openBadger() (opened, error) {
	reg := newLeased(s.reg)
	db, err := badger.Open(badger.Config{Dir: s.cfg.path("state"), Logger: s.log, Registerer: reg})
	if err != nil {
		reg.end()
		return opened{}, err
	}
	return opened{db: db, reg: reg}, nil
}

func (s *stores) opens(err error) guard.Opens {
	switch protocol.CodeOf(err) {
	case protocol.CodeConflict:
		if !s.hangs { // else it is this process that has it
			return guard.OpensConflict
		}
	case protocol.CodeUnsupported:
		return guard.OpensNewer
	case protocol.CodeInvalid, protocol.CodeNotFound, protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeDenied, protocol.CodeInternal:
	}
	return guard.OpensNot
}

// identity compares the store with what it says of itself, with what is known of it, and with the
// guard set. Of one that has less it says what is missing.
func (s *stores) identity(db state.Store) (guard.Identity, error) {
	in, err := store.Inspect(db, s.known)
	if err != nil {
		return "", err
	}
	if in.Condition.Lost() {
		return guard.IdentityLess, lossError(s.cfg.path("state"), in)
	}
	id, err := store.IncarnationOf(db)
	set, _ := s.guard.Set()
	switch {
	case err != nil:
		return "", err
	case id == "":
		return guard.IdentityNone, nil
	}
	if slices.Contains(set.Incarnations, id) {
		return guard.IdentitySame, nil
	}
	return guard.IdentityOther, nil
}

// begin makes room for a new store, as somebody has accepted that the one before is lost.
func (s *stores) begin(why error, aside bool) error {
	loss := accepted(s.cfg.DataDir)
	if loss == nil {
		return why
	}
	if err := loss.take(s.cfg.DataDir); err != nil {
		return err
	}
	s.log.Warn("somebody has accepted that the agent's database is lost; a new one is begun", "reason", loss.Reason, "by", loss.By, "why", why)
	s.guard.Begin(errors.Join(errors.New("the database was lost"), why), true)
	s.guard.Accept(fmt.Sprintf("%s says: %s", loss.By, loss.Reason))
	if err := s.guard.Carry(); err != nil {
		return err
	}
	if s.known = (store.Anchor{}); s.anchor != nil {
		if err := s.anchor.keep(s.known); err != nil {
			return err
		}
	}
	if !aside {
		return nil
	}
	dir := s.cfg.path("state")
	err := os.Rename(dir, fmt.Sprintf("%s.lost-%d", dir, clock.Now().Unix()))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// close closes a store, as far as its disk lets it.
func (s *stores) close(o opened) error {
	s.mu.Lock()
	if s.db == o.db {
		s.db = nil
	}
	s.mu.Unlock()
	if o.db == nil {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- o.db.Close() }()
	timer := time.NewTimer(closeWithin)
	defer timer.Stop()
	if o.reg != nil {
		defer o.reg.end()
	}
	select {
	case err := <-done:
		if err != nil && s.guard.On() {
			s.log.Error("the store did not close well", "err", err)
			return nil
		}
		return err
	case <-timer.C:
		s.hangs = true
		s.log.Error("the store does not close; its disk hangs", "after", closeWithin)
		return nil
	}
}

// reverts notes beside the store that it is an older copy, as the hub says: the hub may be away at the
// next start. The result is why there is no store. If it cannot be noted, this process knows it all the
// same, and the hub says it again to the next.
func (s *stores) reverts(told *agent.RolledBackError) error {
	var failed error
	if s.anchor != nil {
		if raw, ok := s.anchor.pair.Read(); ok { // it has followed the store to its end
			known, err := decodeAnchor(raw)
			if failed = err; err == nil {
				s.known = known
			}
		}
	}
	s.known.Reverted = store.Reverted{Store: told.Incarnation, Sequence: max(told.Had, s.known.Head.Sequence+1)}
	if s.anchor != nil {
		failed = errors.Join(failed, s.anchor.keep(s.known))
	}
	why := lossError(s.cfg.path("state"), store.Inspection{Condition: store.DatabaseReverted, Head: s.known.Head, Known: s.known.Head})
	return errors.Join(why, failed)
}
