package agent

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"rackboot/agent/local"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// desk is the agent as its socket shows it.
type desk struct{ agent *Agent }

var (
	_ local.Reader = desk{}
	_ local.Writer = desk{}
)

// openSocket opens the agent's socket; a nil listener is none.
func (a *Agent) openSocket() (net.Listener, error) {
	if a.cfg.Socket.Path == "" {
		return nil, nil
	}
	return a.cfg.Socket.Listen()
}

func closeSocket(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// serveSocket answers on the agent's socket.
func (a *Agent) serveSocket(ctx context.Context, l net.Listener) error {
	if l == nil {
		return nil
	}
	return a.local.Run(ctx, l)
}

func (a *Agent) newLocal() *local.API {
	return local.New(local.Config{
		Reader: desk{a}, Writer: desk{a}, Logger: a.log, Registerer: a.cfg.Registerer,
		NewID: func() string {
			return strings.ToLower(ulid.MustNew(ulid.Timestamp(a.cfg.Clock()), a.cfg.Random).String())
		},
	})
}

// Status implements local.Reader.
func (d desk) Status() (local.Status, error) {
	a := d.agent
	in, err := a.store.Documents.Applied()
	if err != nil {
		return local.Status{}, err
	}
	b, err := a.store.Events.Backlog(0)
	if err != nil {
		return local.Status{}, err
	}
	o, err := a.store.Servers.Overview()
	if err != nil {
		return local.Status{}, err
	}
	servers, conds := a.reports.Snapshot()
	s := local.Status{
		Agent: a.cfg.Agent, Rack: a.cfg.Rack, Version: a.cfg.Version, Incarnation: in.Incarnation,
		Synced: o.Synced, Replaced: o.Replaced, Standby: o.Standby, Applied: in.Heads, Term: in.Term,
		Backlog: local.Backlog{Head: b.Head}, Servers: len(servers), Holds: len(o.Holds), Conditions: local.Describe(conds),
	}
	for poll, i := a.ages.poll(), 0; i < len(servers); i++ {
		age, stale := a.ages.read(servers[i], poll)
		s.OldestRead = max(s.OldestRead, protocol.Duration(age))
		if stale {
			s.Stale++
		}
	}
	if m, on := a.store.guard.Mode(); on {
		s.Guard = &local.Guard{Since: m.Since, Cause: m.Cause, Frozen: m.Frozen}
	}
	hub := a.link.Standing()
	s.Run = hub.Run
	s.Hub = local.Hub{Met: hub.Met, Answered: hub.Answered, LastWord: when(hub.LastWord), Coming: hub.Coming, Verified: hub.Verified, Fence: in.Fence}
	if b.Tail > 0 {
		s.Backlog.Waiting = b.Head - b.Tail + 1
	}
	return s, nil
}

// Servers implements local.Reader.
func (d desk) Servers() (all []local.Summary) {
	servers, _ := d.agent.reports.Snapshot()
	poll := d.agent.ages.poll()
	for _, r := range servers {
		age, stale := d.agent.ages.read(r, poll)
		if !r.Observation.StartedAt.IsZero() {
			r.ReadAge = age
		}
		all = append(all, local.Summary{Phase: d.agent.reports.Phase(r.Server), Stale: stale, ServerReport: r})
	}
	return all
}

// Server implements local.Reader.
func (d desk) Server(name string) (local.Server, error) {
	r, phase, ok := d.agent.reports.Of(name)
	if !ok {
		return local.Server{}, protocol.Errorf(protocol.CodeNotFound, "show a server", "this agent has not heard of server %q", name).
			WithHint("rackboot-agent servers lists those that it knows")
	}
	v, err := d.agent.store.Servers.View(name)
	if err != nil {
		return local.Server{}, err
	}
	s := local.Server{Name: name, Phase: phase, Report: r}
	if v.Intent != nil {
		in := v.Intent.ServerIntent
		if in.Boot != nil {
			boot := *in.Boot
			boot.Grant, boot.Provisioned = nil, nil
			in.Boot = &boot
		}
		s.Intent, s.Missing = &in, v.Intent.Missing
		if !s.Missing {
			s.Report = *resource.ServerStatus{Report: &r}.Of(in.Owner.UID).Report
		}
	}
	for _, h := range v.Holds {
		s.Holds = append(s.Holds, d.agent.holdOf(h, v.Record, r))
	}
	for _, h := range d.agent.store.Servers.Coming(name) {
		s.Holds = append(s.Holds, coming(h))
	}
	for _, e := range v.Released {
		s.Holds = append(s.Holds, ended(e))
	}
	if o, owed := d.agent.store.guard.Overlay(name); owed {
		g := &local.Guarded{Since: o.Began, Forced: when(o.Forced), Times: o.Sent, ReadAt: when(o.Read), Unread: protocol.Duration(o.Unread)}
		if o.Ran != nil {
			g.RanAt = when(o.Ran.ReadAt)
		}
		s.Guard = g
	}
	s.Guarding = d.agent.Guarding()
	return s, nil
}

// Trace implements local.Reader.
func (d desk) Trace(server string, serial int) (resource.Trace, error) {
	return d.agent.traces.Trace(server, serial)
}

// Mirror implements local.Reader.
func (d desk) Mirror() (resource.MirrorStatus, error) { return d.agent.index.mirrored.MirrorStatus() }

// Flush implements local.Writer.
func (d desk) Flush(ctx context.Context, what string, force bool) (resource.MirrorFlushed, error) {
	return d.agent.index.mirrored.FlushMirror(ctx, what, force)
}

// holdOf is a hold with what its server's record and last report say of it.
func (a *Agent) holdOf(h decide.Hold, rec decide.Record, r resource.ServerReport) local.Hold {
	out := local.Hold{ActiveHold: h.ActiveHold, Word: resource.HoldEnforced, EnforcedAt: h.EnforcedAt, Local: h.Local, Missing: h.Missing}
	if i := slices.IndexFunc(r.Holds, func(x resource.HoldReport) bool { return x.ID == h.ID }); i >= 0 {
		out.State, out.Message, out.ExpiredAt = r.Holds[i].State, r.Holds[i].Reason, r.Holds[i].ExpiredAt
	}
	age, stale := a.ages.read(r, a.ages.poll())
	if out.State, out.Stale = aged(out.State, stale), stale; !r.Observation.StartedAt.IsZero() {
		out.ReadAt = when(a.cfg.Clock().Add(-age))
	}
	_, owed := a.store.guard.Overlay(h.Server)
	withdrawn := owed || out.State == resource.StateViolated // maybe by what is not on disk yet
	rec = decide.InRun(rec, a.ages.run)
	if rc, ok := rec.Holds.Receipts[h.ID]; ok && !withdrawn {
		out.Receipt, out.Word = &rc, resource.HoldFenced
	} else if rc, ok := rec.Holds.Manual[h.ID]; ok {
		out.Receipt = &rc // an operator's word is no proof
	}
	return out
}

// coming is a hold that is guarded and could not be recorded.
func coming(h decide.Hold) local.Hold {
	return local.Hold{
		ActiveHold: h.ActiveHold, Word: resource.HoldAccepted, State: resource.StateAccepted, Local: h.Local,
		Message: "it is guarded, and enforced when the agent can record it; nobody was told that it is enforced",
	}
}

// ended is a hold that was released here.
func ended(r resource.Release) local.Hold {
	return local.Hold{ActiveHold: resource.ActiveHold{ID: r.HoldID, HoldSpec: resource.HoldSpec{Server: r.Server}}, Word: resource.HoldReleased, Released: &r}
}

// Holds implements local.Reader.
func (d desk) Holds() ([]local.Hold, error) {
	lie, released, err := d.agent.store.Local.Holds()
	if err != nil {
		return nil, err
	}
	var all []local.Hold
	for _, h := range lie {
		out, err := d.shown(h)
		if err != nil {
			return nil, err
		}
		all = append(all, out)
	}
	for _, name := range d.agent.store.guard.Newcomers() {
		for _, h := range d.agent.store.Servers.Coming(name) {
			all = append(all, coming(h))
		}
	}
	for _, r := range released {
		all = append(all, ended(r))
	}
	return all, nil
}

func (d desk) shown(h decide.Hold) (local.Hold, error) {
	v, err := d.agent.store.Servers.View(h.Server)
	if err != nil {
		return local.Hold{}, err
	}
	r, _, _ := d.agent.reports.Of(h.Server)
	return d.agent.holdOf(h, v.Record, r), nil
}

// Place implements local.Writer.
func (d desk) Place(h resource.ActiveHold) (local.Hold, bool, error) {
	if err := d.acting("hold"); err != nil {
		return local.Hold{}, false, err
	}
	if v, err := d.agent.store.Servers.View(h.Server); err == nil && v.Intent != nil && v.Intent.DisablePowerOff && len(v.Holds) == 0 {
		return local.Hold{}, false, protocol.Errorf(protocol.CodeConflict, "hold "+h.Server, "the server is never powered off (spec.disablePowerOff), so a hold would prove nothing").
			WithHint("nothing was held: power it off by other means, or take spec.disablePowerOff out of the Server at the hub")
	}
	h, err := d.comes(h)
	if err != nil {
		return local.Hold{}, false, err
	}
	held, fresh, err := d.agent.store.Local.Hold(d.now(), h)
	if err != nil {
		err = d.agent.reports.StoreTrouble(err)
		if slices.ContainsFunc(d.agent.store.Servers.Coming(h.Server), func(o decide.Hold) bool { return o.ID == h.ID }) {
			d.agent.loops.Wake(h.Server)
			err = protocol.Errorf(protocol.CodeUnavailable, "hold "+h.Server, "it is guarded from now on, and could not be recorded: %w", err).
				WithHint("the server is forced off. The hold is enforced, as %s, when the agent can record it; ask again then", h.ID)
		}
		return local.Hold{}, false, err
	}
	if fresh {
		d.changed(h.Server)
	}
	out, err := d.shown(held)
	return out, fresh, err
}

// maxComing bounds the holds that are guarded although they could not be recorded.
const maxComing = 64

// comes is a hold as it is asked for in guard mode: again is the same one.
func (d desk) comes(h resource.ActiveHold) (resource.ActiveHold, error) {
	if !d.agent.Guarding() {
		return h, nil
	}
	n := 0
	for _, name := range d.agent.store.guard.Newcomers() {
		for _, c := range d.agent.store.Servers.Coming(name) {
			if n++; c.Server == h.Server && c.Owner == h.Owner && c.Key == h.Key {
				h.ID = c.ID
				return h, nil
			}
		}
	}
	if n >= maxComing {
		return h, protocol.Errorf(protocol.CodeUnavailable, "hold "+h.Server, "the agent is in guard mode, and %d holds wait to be recorded", n).
			WithHint("rackboot-agent status says why it is; ask again when it is over")
	}
	return h, nil
}

// Release implements local.Writer.
func (d desk) Release(id, by, reason string) (local.Hold, error) {
	if err := d.acting("release"); err != nil {
		return local.Hold{}, err
	}
	if reason == "" {
		if err := d.alone("release"); err != nil {
			return local.Hold{}, err
		}
	}
	r, err := d.agent.store.Local.Release(d.now(), id, by, reason)
	if err != nil {
		return local.Hold{}, d.agent.reports.StoreTrouble(err)
	}
	d.changed(r.Server)
	return ended(r), nil
}

// Resume implements local.Writer.
func (d desk) Resume(r resource.Request) error {
	if err := errors.Join(d.acting("resume"), d.alone("resume")); err != nil {
		return err
	}
	r.NotAfter = d.now().Add(resumeWithin)
	if err := d.agent.store.Local.Resume(d.now(), r); err != nil {
		return d.agent.reports.StoreTrouble(err)
	}
	d.agent.lookAt([]string{r.Server})
	return nil
}

// resumeWithin is how long a resume waits that was asked for here.
const resumeWithin = 10 * time.Minute

// Confirm implements local.Writer.
func (d desk) Confirm(id, by, reason string) (local.Hold, error) {
	if err := d.acting("confirm"); err != nil {
		return local.Hold{}, err
	}
	h, err := d.agent.store.Local.Confirm(d.now(), id, by, reason)
	if err != nil {
		return local.Hold{}, d.agent.reports.StoreTrouble(err)
	}
	d.changed(h.Server)
	return d.shown(h)
}

func (d desk) now() time.Time { return d.agent.cfg.Clock() }

// changed makes what is on disk count: the boot servers' gate, then the server's loop.
// The gate is read again by the next document too, should that fail here.
func (d desk) changed(server string) {
	if err := d.agent.index.read(); err != nil {
		d.agent.log.Error("cannot read what is on disk", "server", server, "err", err)
		_ = d.agent.reports.StoreTrouble(err) // raises a condition
	} else {
		d.agent.store.recorded()
	}
	d.agent.lookAt([]string{server})
}

// acting refuses what people ask of an agent whose term is over, or has not begun.
func (d desk) acting(op string) error {
	if d.agent.store.Servers.StandsBy() {
		return protocol.Errorf(protocol.CodeConflict, op, "this agent stands by; it orders nothing").
			WithHint("ask the agent that serves the rack, or the hub")
	}
	if !d.agent.link.Over() {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the term of this agent is over; it orders nothing any more").
		WithHint("ask the rack's present agent, or the hub; rackboot-agent status says why")
}

// alone refuses what another agent with the same disk may have been asked too.
func (d desk) alone(op string) error {
	if o, err := d.agent.store.Servers.Overview(); err != nil || !o.Aside {
		return err
	}
	if d.agent.link.Standing().Waits {
		return protocol.Errorf(protocol.CodeConflict, op, "this agent has just started, and another one may serve the rack by now; it waits for the hub").
			WithHint("look at its way to the hub; only rackboot-agent release --break-glass releases a hold here")
	}
	return protocol.Errorf(protocol.CodeConflict, op, "another agent has the same disk, and nobody has said which goes on").
		WithHint("say so at the hub: rackctl rack keep-agent RACK RUN --reason …; only rackboot-agent release --break-glass releases a hold here")
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
