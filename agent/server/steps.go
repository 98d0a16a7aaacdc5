package server

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"rackboot/agent/store"
	"rackboot/agent/trace"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// steps takes the decisions about one server and makes them durable, one after the other:
// evidence can be folded from the boot servers' goroutines while the loop waits for the BMC.
type steps struct {
	cfg     *Config
	log     *slog.Logger
	server  string
	met     *metrics
	unnoted *unnoted
	places  *places
	signals *signals
	inbox   *inbox
	can     *atomic.Pointer[abilities] // of the connection
	traced  *trace.Server
	teller  *teller

	mu    sync.Mutex
	watch decide.Watch
	grant verified[*wire.Verifier, message.Grant]
	echo  verified[string, resource.Provisioned]
	// recorded is the last record of a held server that is on disk.
	recorded decide.Record
}

// step takes one decision and makes it durable. What could not be recorded before comes
// first. In guard mode nothing is decided.
func (s *steps) step(fill func(*decide.Snapshot)) (decide.Plan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.Guard.On() {
		return decide.Plan{}, protocol.Errorf(protocol.CodeUnavailable, "decide about "+s.server, "in guard mode nothing can be recorded").
			WithHint("rackboot-agent status says why")
	}
	if err := s.catchUp(); err != nil {
		return decide.Plan{}, err
	}
	return s.take(s.inbox.peek(), fill)
}

// take is step with s.mu held, and folds w.
func (s *steps) take(w waiting, fill func(*decide.Snapshot)) (decide.Plan, error) {
	var snap decide.Snapshot
	plan, after, err := s.cfg.Store.Servers.Step(s.server, func(v store.View) decide.Plan {
		snap = s.snapshot(v)
		snap.Events, snap.Identity, snap.Safety = w.events, w.board, w.safety
		fill(&snap)
		if o := snap.Observation; o != nil {
			snap.Read = decide.ReadSpan{Sent: o.StartedAt.Sub(s.cfg.Started), Answered: o.ReadAt.Sub(s.cfg.Started)}
		}
		return decide.Step(s.cfg.Clock(), snap)
	})
	if err != nil {
		return plan, err
	}
	if len(plan.Expire) > 0 || closesUserData(snap.Record.Attempt, plan.Record.Attempt) {
		if err := s.cfg.Index.Changed(); err != nil { // until then nothing is served to it
			s.log.Error("cannot read the index anew", "err", err)
		}
	}
	if len(plan.Expire) > 0 {
		s.signals.poke()
	}
	if plan.Persist || len(plan.Happened) > 0 {
		s.cfg.Reports.Clear(resource.CondGuardMode) // it was written
	}
	s.inbox.folded(w)
	s.watch = plan.Watch
	s.recorded = decide.Record{}
	if len(after.Holds) > 0 {
		s.recorded = plan.Record
	}
	s.met.measure(plan.Measured)
	s.cfg.Log.Follow(s.server, snap.Record.Attempt, plan.Record.Attempt)
	s.traced.Stepped(snap, plan)
	s.cfg.Boot.Follow(s.server, plan.Record)
	if plan.Fetch {
		s.cfg.Files.Want(after.Intent.ServerIntent)
	}
	s.teller.publish(after, plan)
	for _, e := range plan.Happened {
		s.log.Info("event", "code", e.Code, "detail", e.Message)
	}
	return plan, nil
}

// closesUserData says whether a boot with user data has ended: what no document names any
// more is destroyed then, and not with the next document.
func closesUserData(was, is *decide.Attempt) bool {
	return was.Open() && was.Order.Ignition != nil && (is == nil || !is.Open() || is.ID != was.ID)
}

// passive folds what waits without a read, and says whether it changed anything.
func (s *steps) passive() (moved bool, err error) {
	var was decide.Watch
	plan, err := s.step(func(snap *decide.Snapshot) {
		snap.Passive = true
		was = snap.Watch
	})
	return err == nil && decide.Stirs(plan, was), err
}

// tell reports what is on disk, where nothing can be read or decided.
func (s *steps) tell() error {
	v, err := s.cfg.Store.Servers.View(s.server)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, owed := s.cfg.Guard.Overlay(s.server); owed {
		v.Record.Holds.Receipts = nil // they are void, and the record does not know it yet
	}
	s.teller.publish(v, decide.Plan{Record: decide.InRun(v.Record, s.cfg.Run), Watch: s.watch})
	return nil
}
