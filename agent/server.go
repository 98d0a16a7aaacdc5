package agent

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/agent/store"
	"rackboot/agent/trace"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// callTimeout bounds one call to a BMC.
const callTimeout = 15 * time.Second

// server is the loop of one server. Its BMC driver is used by the loop only;
// decisions are serialised by mu, so that evidence can be folded from the boot
// servers' goroutines while the loop waits for the BMC.
type server struct {
	agent *Agent
	name  string
	log   *slog.Logger
	poked chan struct{}
	// stirred is that evidence waits, or has moved the record: whether the BMC is read for it
	// heed says.
	stirred chan struct{}
	moved   atomic.Bool
	bmc     connection
	// woken says that an event of the BMC poked; boards asks for the board to be read;
	// host is the BMC's.
	woken  atomic.Bool
	boards chan struct{}
	host   atomic.Pointer[string]
	// powerLog is where the BMC's log is that tells of power cycles; empty without one.
	powerLog atomic.Pointer[string]
	// boardAt is when the board was last read, in seconds of Unix time.
	boardAt atomic.Int64

	mu     sync.Mutex
	watch  decide.Watch
	events []decide.Event   // folded by the next step
	board  *decide.Identity // likewise
	safety *protocol.Safety // likewise
	traced *trace.Server
	images *images
	// recorded is the last record of a held server that is on disk; spell is what could not
	// be recorded since.
	recorded decide.Record
	spell    spell
}

func newServer(a *Agent, name string) *server {
	log := a.log.With("server", name)
	return &server{agent: a, name: name, log: log, images: newImages(a.store, log, name), poked: make(chan struct{}, 1), stirred: make(chan struct{}, 1), boards: make(chan struct{}, 1), traced: a.traces.Server(name)}
}

// Name implements stream.Server.
func (s *server) Name() string { return s.name }

// Woken implements stream.Server.
func (s *server) Woken() {
	s.woken.Store(true)
	s.poke()
}

// poke makes the loop look now.
func (s *server) poke() { wake(s.poked) }

// wake signals a channel of one place, unless it is signalled already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// maxEvents bounds the evidence that waits for a step.
const maxEvents = 256

// saw hands evidence to the next step. It does not block.
func (s *server) saw(e decide.Event) {
	s.mu.Lock()
	if len(s.events) < maxEvents {
		s.events = append(s.events, e)
	} else {
		s.agent.boot.Dropped()
	}
	s.mu.Unlock()
	s.stir()
}

func (s *server) run(ctx context.Context) {
	defer s.bmc.close(s)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.poked:
		case <-s.stirred:
			if wait := s.heed(); wait == never {
				continue
			} else if at := s.agent.cfg.Clock().Add(wait); wait > 0 {
				if at.Before(next) {
					next = at
					timer.Reset(wait)
				}
				continue
			}
		}
		next = s.turn(ctx)
		timer.Reset(max(0, next.Sub(s.agent.cfg.Clock())))
	}
}

// storePause is how long a server waits when nothing can be recorded: without a
// record nothing may be done.
const storePause = 2 * time.Second

// turn observes, decides and acts until there is nothing more to do at once. It
// returns when to look again.
func (s *server) turn(ctx context.Context) time.Time {
	var result *decide.Result
	for {
		v, err := s.agent.store.Server(s.name)
		if err != nil {
			return s.unrecorded(ctx, s.agent.store.Remembered(s.name), nil, err)
		}
		if v.Ended {
			return s.rest()
		}
		if v.Intent == nil {
			return s.unnamed(v)
		}
		r := s.read(ctx, v)
		if ctx.Err() != nil {
			return s.agent.cfg.Clock()
		}
		plan, err := s.step(func(snap *decide.Snapshot) {
			r.fill(snap)
			snap.Result = result
		})
		if err != nil {
			return s.unrecorded(ctx, v, &r, err)
		}
		if plan.Action.Kind == decide.ActNone {
			return plan.RecheckAt
		}
		acted := s.act(ctx, plan)
		result = &acted
	}
}

// read goes on with a change of the BMC's account, and reads the server.
func (s *server) read(ctx context.Context, v store.View) reading {
	in := v.Intent.ServerIntent
	if t := s.agent.changes.GoOn(ctx, in, settings(v.Rack).PollInterval, s.log); t != nil {
		return reading{obs: unreachable(s, in, protocol.CodeUnavailable, t.Err), cond: &resource.ConditionState{Code: t.Code, Message: t.Err.Error()}}
	}
	s.bmc.known = knownAs(v.Record.Identity)
	return s.bmc.observe(ctx, s, in)
}

// unnamed is a server that no document has named: nothing can be read, and a document
// will poke. The times of its holds run all the same.
func (s *server) unnamed(v store.View) time.Time {
	if len(v.Holds) == 0 {
		if err := s.tell(); err != nil {
			return s.stuck(err)
		}
		return s.agent.cfg.Clock().Add(time.Hour)
	}
	if _, err := s.step(func(*decide.Snapshot) {}); err != nil {
		return s.stuck(err)
	}
	return s.agent.cfg.Clock().Add(unnamedEvery)
}

// unnamedEvery is how often the holds of a server are looked at that has no BMC yet.
const unnamedEvery = 15 * time.Second

// stuck reports that nothing can be recorded, and returns when to try again.
func (s *server) stuck(err error) time.Time {
	s.agent.reports.Raise(resource.CondStoreFailing, err.Error())
	s.log.Error("cannot record; nothing is done but to force off what is held", "err", err)
	return s.agent.cfg.Clock().Add(storePause)
}

// step takes one decision and makes it durable. What could not be recorded before comes
// first.
func (s *server) step(fill func(*decide.Snapshot)) (decide.Plan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.catchUp(); err != nil {
		return decide.Plan{}, err
	}
	return s.take(fill)
}

// take is step with s.mu held.
func (s *server) take(fill func(*decide.Snapshot)) (decide.Plan, error) {
	var snap decide.Snapshot
	events, board, safety := s.events, s.board, s.safety
	plan, after, err := s.agent.store.Step(s.name, func(v store.View) decide.Plan {
		snap = s.snapshot(v)
		snap.Events, snap.Identity, snap.Safety = events, board, safety
		fill(&snap)
		return decide.Step(s.agent.cfg.Clock(), snap)
	})
	if err != nil {
		return plan, err
	}
	if len(plan.Expire) > 0 || closesUserData(snap.Record.Attempt, plan.Record.Attempt) {
		if err := s.agent.reindex(); err != nil { // until then nothing is served to it
			s.log.Error("cannot read the index anew", "err", err)
		}
	}
	if len(plan.Expire) > 0 {
		s.poke()
	}
	if plan.Persist || len(plan.Happened) > 0 {
		s.agent.reports.Clear(resource.CondStoreFailing) // it was written
	}
	s.events, s.board, s.safety = s.events[:0:0], nil, nil
	s.watch = plan.Watch
	s.recorded = decide.Record{}
	if len(after.Holds) > 0 {
		s.recorded = plan.Record
	}
	s.agent.met.measure(plan.Measured)
	s.traced.Stepped(snap, plan)
	s.agent.boot.Follow(s.name, plan.Record)
	if plan.Fetch {
		s.agent.files.Want(after.Intent.ServerIntent)
	}
	s.publish(after, plan)
	for _, e := range plan.Happened {
		s.log.Info("event", "code", e.Code, "detail", e.Message)
	}
	return plan, nil
}

// closesUserData says whether a boot with user data has ended: what no document names any
// more is destroyed then, and not with the next document.
func closesUserData(was, is *decide.Attempt) bool {
	return was.Open() && was.Ignition != nil && (is == nil || !is.Open() || is.ID != was.ID)
}

// tell reports what is on disk, where nothing can be read or decided.
func (s *server) tell() error {
	v, err := s.agent.store.Server(s.name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publish(v, decide.Plan{Record: v.Record, Watch: s.watch})
	return nil
}

// publish hands the server's report to the reporter; it needs s.mu.
func (s *server) publish(v store.View, p decide.Plan) {
	r := s.describe(v, p)
	var intent *message.ServerIntent
	if v.Intent != nil && !v.Intent.Missing {
		intent = &v.Intent.ServerIntent
	}
	s.agent.reports.Put(r, decide.Phase(intent, &r))
}

// fold puts one piece of evidence on disk now, before it is answered.
func (s *server) fold(e decide.Event) error {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	moved, err := s.passive()
	if err != nil {
		s.poke()
		return err
	}
	if moved {
		s.moved.Store(true)
	}
	s.stir()
	return nil
}

// rest is a server's turn once the term is over: the way to its BMC is closed.
func (s *server) rest() time.Time {
	s.bmc.close(s)
	if err := s.tell(); err != nil {
		return s.stuck(err)
	}
	return s.agent.cfg.Clock().Add(time.Hour)
}
