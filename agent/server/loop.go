package server

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// loop is that of one server: it observes, decides, persists and acts. Its parts have the
// state; the BMC's driver is used by the loop only.
type loop struct {
	cfg    *Config
	log    *slog.Logger
	server string

	signals *signals
	callers callers
	inbox   *inbox
	bmc     *connection
	board   *board
	steps   *steps
	hand    *hand
	images  *images

	reads  *budget // of all servers
	places *places // of all servers
	wakes  *prometheus.CounterVec
}

// saw hands evidence to the next step. It does not block.
func (l *loop) saw(e decide.Event) {
	if !l.inbox.saw(e) {
		l.cfg.Boot.Dropped()
	}
	l.signals.stir()
}

func (l *loop) run(ctx context.Context) {
	l.board.begin(ctx)
	defer l.board.end()
	defer l.bmc.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-l.signals.poked:
		case <-l.signals.stirred:
			if wait := l.heed(); wait == never {
				continue
			} else if at := l.cfg.Clock().Add(wait); wait > 0 {
				if at.Before(next) {
					next = at
					timer.Reset(wait)
				}
				continue
			}
		}
		next = l.turn(ctx)
		timer.Reset(max(0, next.Sub(l.cfg.Clock())))
	}
}

// storePause is how long a server waits when nothing can be recorded: without a
// record nothing may be done.
const storePause = 2 * time.Second

// turn observes, decides and acts until there is nothing more to do at once. It
// returns when to look again.
func (l *loop) turn(ctx context.Context) time.Time {
	var result *decide.Result
	for {
		plan, next := l.round(ctx, result)
		if plan == nil {
			return next
		}
		acted := l.hand.do(ctx, *plan)
		result = &acted
	}
}

// round observes, decides and records, once. result is what became of the action before. It
// returns the plan if that has an action to do now; else nil, and when to look again.
func (l *loop) round(ctx context.Context, result *decide.Result) (act *decide.Plan, next time.Time) {
	asked := l.callers.begin()
	defer func() { asked.tell(resource.ServerRead{}, notRead(l.server)) }()
	need := decide.PlaceNone // nothing is switched on but by a plan
	defer func() {
		turn := l.places.ask(l.cfg.Clock(), l.signals, need)
		if act == nil && !turn.IsZero() && turn.Before(next) {
			next = turn
		}
	}()
	v, err := l.cfg.Store.Servers.View(l.server)
	if err != nil {
		next = l.stuck(err)
		if v = l.cfg.Store.Servers.Remembered(l.server); v.Rests() {
			l.bmc.close()
			return nil, next
		}
		return nil, l.guard(ctx, v, nil, true)
	}
	if v.Rests() {
		return nil, l.rest()
	}
	if l.cfg.Guard.On() {
		return nil, l.guard(ctx, v, nil, false)
	}
	if v.Intent == nil {
		return nil, l.unnamed(v)
	}
	l.places.heed(l.cfg.Clock(), v)
	r := l.read(ctx, v)
	if ctx.Err() != nil {
		return nil, l.cfg.Clock()
	}
	plan, err := l.steps.step(func(snap *decide.Snapshot) {
		r.fill(snap)
		snap.Result = result
	})
	if err != nil {
		l.stuck(err)
		return nil, l.guard(ctx, v, &r, false)
	}
	need = plan.Place
	asked.tell(readOf(l.server, r, plan.Record))
	switch {
	case plan.Changed:
		l.board.reread()
	case plan.Survey:
		l.board.again()
	}
	if plan.Action.Kind == decide.ActNone {
		return nil, plan.RecheckAt
	}
	return &plan, time.Time{}
}

func notRead(server string) error {
	return protocol.Errorf(protocol.CodeUnavailable, "read "+server, "it is not read, or what was read cannot be recorded").
		WithHint("rackctl describe server %s shows the conditions of the server and of its agent", server)
}

// read goes on with a change of the BMC's account, and reads the server.
func (l *loop) read(ctx context.Context, v store.View) reading {
	in := v.Intent.ServerIntent
	if v.Aside { // nothing is written to the BMC, and which account it has is read
		l.bmc.known = knownAs(v.Record.Identity)
		return l.bmc.observe(ctx, in)
	}
	if t := l.cfg.Changes.GoOn(ctx, in, settings(v.Rack).PollInterval, l.log); t != nil {
		return reading{obs: unreachable(l.server, l.cfg.Clock(), protocol.CodeUnavailable, t.Err), cond: &resource.ConditionState{Code: t.Code, Message: t.Err.Error()}}
	}
	l.bmc.known = knownAs(v.Record.Identity)
	return l.bmc.observe(ctx, in)
}

// unnamed is a server that no document has named: nothing can be read, and a document
// will poke. The times of its holds run all the same.
func (l *loop) unnamed(v store.View) time.Time {
	if len(v.Holds) == 0 {
		if err := l.steps.tell(); err != nil {
			return l.stuck(err)
		}
		return l.cfg.Clock().Add(time.Hour)
	}
	if _, err := l.steps.step(func(*decide.Snapshot) {}); err != nil {
		return l.stuck(err)
	}
	return l.cfg.Clock().Add(unnamedEvery)
}

// unnamedEvery is how often the holds of a server are looked at that has no BMC yet.
const unnamedEvery = 15 * time.Second

// stuck reports that nothing can be recorded, and returns when to try again.
func (l *loop) stuck(err error) time.Time {
	if !l.cfg.Guard.On() { // else the agent says so
		l.cfg.Reports.Raise(resource.CondGuardMode, err.Error())
		l.log.Error("cannot record; nothing is done but to force off what is held", "err", err)
	}
	return l.cfg.Clock().Add(storePause)
}

// fold puts one piece of evidence on disk now, before it is answered.
func (l *loop) fold(e decide.Event) error {
	l.inbox.must(e)
	moved, err := l.steps.passive()
	if err != nil {
		l.signals.poke()
		return err
	}
	if moved {
		l.signals.moved.Store(true)
	}
	l.signals.stir()
	return nil
}

// rest is a server's turn before the term begins, and once it is over: the way to its BMC is closed.
func (l *loop) rest() time.Time {
	l.bmc.close()
	l.places.rest()
	if err := l.steps.tell(); err != nil {
		return l.stuck(err)
	}
	return l.cfg.Clock().Add(time.Hour)
}

// heed folds the evidence that waits into the record, and says how long until the BMC is to
// be read because of it; never is negative.
func (l *loop) heed() time.Duration {
	moved := l.signals.moved.Swap(false)
	if len(l.inbox.peek().events) > 0 {
		m, err := l.steps.passive()
		if err != nil {
			return 0 // the turn says so
		}
		moved = moved || m
	}
	if !moved {
		l.wakes.WithLabelValues(wakeNone).Inc()
		return never
	}
	host := ""
	if h := l.board.host.Load(); h != nil {
		host = *h
	}
	wait := l.reads.take(host, l.cfg.Clock())
	if wait > 0 {
		l.wakes.WithLabelValues(wakeLater).Inc()
		return wait
	}
	l.wakes.WithLabelValues(wakeRead).Inc()
	return 0
}

// never is no time at which something is due.
const never time.Duration = -1

// guardPause bounds the pause between two reads of a held server in guard mode that is not seen to
// run.
const guardPause = 5 * time.Second

// guard goes on with a server about which nothing can be recorded. One that is held is read, and
// forced off; nothing else is done. r is the read of the step, nil where there was no step; blind
// says that the store could not even be read. It returns when to look again.
func (l *loop) guard(ctx context.Context, v store.View, r *reading, blind bool) time.Time {
	now := l.cfg.Clock()
	v.Holds = slices.Concat(v.Holds, l.cfg.Store.Servers.Coming(l.server))
	if len(v.Holds) == 0 || v.Intent == nil || ctx.Err() != nil {
		return now.Add(storePause)
	}
	if r == nil {
		look := l.bmc.observe
		if blind {
			look = l.bmc.look
		}
		l.bmc.known = knownAs(v.Record.Identity)
		got := look(ctx, v.Intent.ServerIntent)
		r = &got
		now = l.cfg.Clock()
	}
	plan := l.steps.unrecorded(v, r.obs, blind, now)
	if plan.Action == decide.ActForceOff {
		l.hand.forceUnrecorded(ctx, plan.Counts)
	}
	next := now.Add(storePause)
	if !plan.Runs && r.obs != nil && l.cfg.Guard.On() {
		next = now.Add(max(storePause, min(guardPause, v.Rack.PollInterval)))
	}
	if !plan.RecheckAt.IsZero() && plan.RecheckAt.Before(next) {
		return plan.RecheckAt
	}
	return next
}
