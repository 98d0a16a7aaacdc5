package link

import (
	"context"
	"sync/atomic"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Room speaks with the hub. Make it with New, then call Run once. All methods are safe for
// concurrent use, but for Receive, Trouble and what Heard calls of it: these are the
// connection's.
type Room struct {
	cfg   Config
	keys  atomic.Pointer[hubKeys]
	over  atomic.Pointer[message.EndOfTerm] // nil while the term is not ended
	began uint64                            // number of the last event when this run began
	heads storeHeads
	hub   *hubHeads
	// dismissed says that the hub has said that another agent serves the rack, or that this
	// disk is an old copy: also where that could not be recorded.
	dismissed atomic.Bool

	on      *footing
	aside   *asides
	session session
	clock   hubClock
	greeter *greeter
	met     *metrics

	troubles troubles // used within Receive only
	refusals refusals // used within Receive only
	backlog  backlog  // used by the reports' goroutine only
}

// New reads what the disk says of the hub. Nothing is sent before a connection.
func New(cfg Config) (*Room, error) {
	r := &Room{cfg: cfg, greeter: newGreeter(cfg.Clock), clock: hubClock{clock: cfg.Clock}, on: newFooting(cfg), troubles: troubles{}}
	r.keys.Store(newHubKeys(cfg.HubKeys))
	word, over, err := cfg.Store.Term.Ended(cfg.Agent)
	if err != nil {
		return nil, err
	}
	if r.began, err = cfg.Store.Events.Began(); err != nil {
		return nil, err
	}
	if r.heads, err = newStoreHeads(cfg.Store, r.on.guards); err != nil {
		return nil, err
	}
	if r.hub, err = newHubHeads(cfg.Store, func(sealed []byte) (message.HubHead, error) { return openHubHead(r.Verifier(), sealed) }); err != nil {
		return nil, err
	}
	if r.aside, err = newAsides(cfg); err != nil {
		return nil, err
	}
	r.aside.say(cfg, r.on)
	if r.aside.waits() {
		cfg.Reports.Raise(resource.CondAwaitingHub, "another agent may have the disk or the rack by now: nothing is done but what holds want")
	}
	if over {
		r.over.Store(&word)
		cfg.Reports.Raise(word.Code, endedWhen(word))
	}
	r.met = newMetrics(r)
	return r, nil
}

// Run says Hello when it is due until ctx ends.
func (r *Room) Run(ctx context.Context) { r.greeter.run(ctx, r.hello, r.look) }

// Standing is how the agent stands with the hub.
type Standing struct {
	Run           string
	Met, Answered bool                     // in this run; in this session
	LastWord      time.Time                // the hub's latest time in anything heeded; zero before
	Coming        map[string]protocol.Head // documents that the last answer named and the disk lacks
	Verified      bool                     // the hub's word is fresh
	Waits         bool                     // it does only what holds want until the hub has answered: see arrivingRule
}

// Standing returns how the agent stands with the hub.
func (r *Room) Standing() Standing {
	s := r.session.standing()
	s.Run, s.Waits = r.cfg.Run, r.aside.waits()
	s.Verified, _ = r.clock.fresh()
	return s
}

// Dismissed reports whether the hub has said that another agent serves the rack, or that
// this disk is an old copy: also where that could not be recorded.
func (r *Room) Dismissed() bool { return r.dismissed.Load() }

// InForce notes that a document is on disk and what it says is done. It reports whether this
// was the last that was to come: the hub's time counts from then on.
func (r *Room) InForce(leaf string, h protocol.Head, issued time.Time) (last bool) {
	return r.session.applied(leaf, h, issued)
}

// Restart begins another session and says Hello soon: only the answer to a question of after
// a change shows that the hub is still reached, and what is on its way is none.
func (r *Room) Restart() {
	r.session.renew(r.cfg.NewID(), nil)
	r.greeter.reply()
}
