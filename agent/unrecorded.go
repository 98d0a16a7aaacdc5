package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// spell is what a server's loop remembers while nothing can be recorded; it is lost with
// the process.
type spell struct {
	decide.Spell
	// ran is the first read that showed the held server running. It is folded before
	// anything else once there is room: what was proved before it is void.
	ran *protocol.Observation
}

// unrecorded goes on with a server whose step could not be put on disk. A server with an
// enforced hold is forced off all the same; nothing else is done. r is the read of the step,
// nil where even the store could not be read. It returns when to try again.
func (s *server) unrecorded(ctx context.Context, v store.View, r *reading, cause error) time.Time {
	next, a := s.stuck(cause), s.agent
	if len(v.Holds) == 0 || v.Intent == nil || ctx.Err() != nil {
		return next
	}
	blind := r == nil
	if blind {
		got := s.bmc.look(ctx, s, v.Intent.ServerIntent)
		r = &got
	}
	now := a.cfg.Clock()
	s.mu.Lock()
	if blind {
		v.Record = s.recorded
	}
	snap := decide.Snapshot{
		Server: s.name, Ended: v.Ended, Holds: v.Holds, Firmware: v.Intent.Firmware, HubTime: a.link.Time(), Settings: settings(v.Rack),
		Bulk: a.bulk(v), Record: v.Record, Observation: r.obs,
	}
	if blind {
		snap.Bulk.Others = max(snap.Bulk.Others, snap.Bulk.Bound) // how many there were is on disk
	}
	plan := decide.StopUnrecorded(now, v.Synced && !a.link.Dismissed(), snap, s.spell.Spell)
	s.spell.Spell = plan.Spell
	if plan.Runs && s.spell.ran == nil {
		s.spell.ran = r.obs
	}
	if plan.Runs {
		s.withdraw(*s.spell.ran)
	}
	s.mu.Unlock()
	if plan.Action == decide.ActForceOff {
		s.forceUnrecorded(ctx, plan.Counts)
	}
	if !plan.RecheckAt.IsZero() && plan.RecheckAt.Before(next) {
		return plan.RecheckAt
	}
	return next
}

// forceUnrecorded forces a held server off, if the holds that are in force now let it.
func (s *server) forceUnrecorded(ctx context.Context, counts bool) {
	a := s.agent
	v := a.store.Remembered(s.name)
	work := v.Intent != nil && decide.Working(v.Intent.Firmware, a.link.Time(), a.cfg.Clock())
	if len(v.Holds) == 0 || v.Ended || a.link.Dismissed() || !decide.Permits(decide.ActForceOff, v.Holds, work) || s.bmc.driver == nil {
		return
	}
	if counts {
		a.unnoted.note(s.name, a.cfg.Clock())
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := s.bmc.driver.Reset(ctx, bmc.ResetForceOff)
	a.met.unrecorded.Inc()
	s.log.Warn("forced off without a record", "err", err)
}

// withdraw takes back what the last report said was proved of the server, which runs. It
// needs s.mu.
func (s *server) withdraw(ran protocol.Observation) {
	r, phase, ok := s.agent.reports.Of(s.name)
	if !ok {
		return
	}
	r.Holds = slices.Clone(r.Holds)
	changed := false
	for i := range r.Holds {
		h := &r.Holds[i]
		if h.Word != resource.HoldFenced && len(h.Receipt) == 0 {
			continue
		}
		h.Word, h.State, h.Receipt = resource.HoldEnforced, resource.StateViolated, nil
		h.Reason = fmt.Sprintf("it was read %s at %s, which is not recorded yet: the agent cannot write to its disk", ran.Power, ran.ReadAt.UTC().Format(time.RFC3339))
		changed = true
	}
	if changed {
		s.agent.reports.Put(r, phase)
	}
}

// catchUp records what happened in a spell, before anything else is decided. It needs s.mu.
func (s *server) catchUp() error {
	if s.spell.ran == nil {
		return nil
	}
	events, board, safety := s.events, s.board, s.safety // for the step itself
	_, err := s.take(func(snap *decide.Snapshot) {
		snap.Events, snap.Identity, snap.Safety = nil, nil, nil
		snap.Observation, snap.Forced, snap.Passive = s.spell.ran, s.spell.Forced, true
	})
	if err == nil {
		s.spell, s.events, s.board, s.safety = spell{}, events, board, safety
		s.agent.unnoted.drop(s.name)
	}
	return err
}

// look reads with the driver that there is where the way to the BMC is on a disk that
// cannot be read.
func (c *connection) look(ctx context.Context, s *server, in message.ServerIntent) reading {
	if c.driver == nil {
		return c.observe(ctx, s, in)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	started := s.agent.cfg.Clock()
	o, err := c.driver.Observe(ctx)
	o.Server, o.StartedAt, o.ReadAt = s.name, started, s.agent.cfg.Clock()
	r := reading{obs: &o}
	r.busy, r.retryAfter = pause(err)
	return r
}

// unnoted are the stops that took room of the bound and could not be recorded.
type unnoted struct {
	mu sync.Mutex
	at map[string]time.Time // by server, so that the rack bounds it
}

func (u *unnoted) note(server string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = map[string]time.Time{}
	}
	u.at[server] = at
}

func (u *unnoted) drop(server string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.at, server)
}

// others is how many other servers were stopped so within the window.
func (u *unnoted) others(server string, now time.Time, window time.Duration) (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, at := range u.at {
		if name != server && now.Sub(at).Abs() < window {
			n++
		}
	}
	return n
}
