package upgrades

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/hub/plan/rollout"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// crew is one agent of a rack.
type crew struct {
	agent   *resource.Agent
	order   *resource.AgentOrder // of any upgrade
	runs    string               // sha256 of the program that runs; empty is not known
	version string
	able    bool // it can upgrade itself
	dark    bool
}

// seat is a rack of an upgrade, with its agents in the order in which they are upgraded: who stands by, and the active one.
type seat struct {
	rack *resource.Rack
	crew []crew
}

// active is the agent that serves the rack; nil if there is none.
func (s *seat) active() *crew {
	if n := len(s.crew); n > 0 {
		return &s.crew[n-1]
	}
	return nil
}

// aim is what the agents of a roll-out are to run.
type aim struct {
	uid      string
	digest   string // of the package
	manifest agentpackage.Manifest
	deadline time.Duration
	still    bool // no further agent of a rack is begun now: somebody paused or ended it, or no window is open
}

// has reports whether a program is the package's.
func (m aim) has(program string) bool {
	return program != "" && slices.ContainsFunc(m.manifest.Binaries, func(b agentpackage.Binary) bool { return b.SHA256 == program })
}

// runs reports whether an agent runs the package for good: not only on trial.
func (m aim) runs(a crew) bool {
	onTrial := a.order.Open() && a.order.Stage == string(message.UpgradeTrial)
	return m.has(a.runs) && !onTrial
}

// given reports whether the agent was given the order of a moment.
func (m aim) given(a crew, at time.Time) bool {
	return a.order != nil && a.order.UID == m.uid && a.order.At.Equal(at)
}

// next is the agent of a rack that is to be ordered now, for a member that was begun at a moment; nil while it is waited
// for one, when one has failed, and when there is nothing more to do.
func (m aim) next(s *seat, kind rollout.OrderKind, at time.Time) *crew {
	for i := range s.crew {
		a := &s.crew[i]
		switch {
		case m.given(*a, at):
			if a.order.Stage != string(message.UpgradeDone) {
				return nil
			}
		case a.order.Open():
			return nil
		case m.runs(*a) == (kind == rollout.OrderReturn):
			return a
		}
	}
	return nil
}

// server is a rack as the roll-out sees it.
func (m aim) server(s *seat, now time.Time) rollout.Server {
	out := rollout.Server{
		Name: s.rack.Metadata.Name, Rack: s.rack.Metadata.Name, Labels: s.rack.Metadata.Labels,
		Claimed: len(s.crew) > 0, Target: m.digest, Boots: "another", Network: true,
	}
	active := s.active()
	if active == nil {
		return out
	}
	all := true
	var open *crew
	for i := range s.crew {
		a := &s.crew[i]
		all = all && m.runs(*a)
		out.Part = out.Part || m.runs(*a) && a.order != nil && a.order.UID == m.uid
		if a.order.Open() {
			open = a
		}
		m.ordered(&out, a, now)
	}
	if all {
		out.Boots = m.digest
	}
	if why := m.unable(*active); why != "" && !all {
		out.Network, out.Unfit = false, why
	}
	out.Down = downRule(open != nil, active.dark || open != nil && open.dark, open != nil && paused(open.order))
	if out.Down == "" && m.still && m.between(s) {
		out.Down = rollout.DownFrozen // its time does not run
	}
	out.Up = out.Down == ""
	return out
}

// between reports whether who stands by has done what its rack was begun for, and the active agent is still to be ordered.
func (m aim) between(s *seat) bool {
	first, active := s.crew[0], s.active()
	o := first.order
	return len(s.crew) > 1 && o != nil && o.UID == m.uid && o.Stage == string(message.UpgradeDone) && !m.given(*active, o.At) &&
		m.runs(*active) == (o.Kind == resource.AgentOrderReturn)
}

// still reports whether no further agent of a begun rack may be ordered.
func still(now time.Time, spec resource.RolloutSpec, phase resource.RolloutPhase) bool {
	switch phase {
	case resource.RolloutPaused, resource.RolloutAborted, resource.RolloutFailed, resource.RolloutSuperseded:
		return true
	default:
	}
	open, _, err := rollout.InWindow(local(now, spec), spec)
	return spec.Freeze || err != nil || !open
}

// ordered says what became of an agent's order.
func (m aim) ordered(out *rollout.Server, a *crew, now time.Time) {
	o := a.order
	switch {
	case o == nil || o.UID != m.uid:
		return
	case o.Undone:
		if until := o.EndedAt.Add(m.deadline); now.Before(until) && !m.runs(*a) {
			// Others have their turn meanwhile.
			out.Network, out.Unfit = false, short(fmt.Sprintf("agent %s did not begin it in time (%s), and is ordered again from %s", a.agent.Metadata.Name, waitedFor(o), until.UTC().Format(time.RFC3339)))
		}
		return
	case o.At.After(out.Ordered):
		out.Ordered = o.At
	}
	if o.Open() {
		return
	}
	if o.Stage == string(message.UpgradeDone) {
		if m.runs(*a) && o.EndedAt.After(out.BootedAt) {
			out.BootedAt = *o.EndedAt
		}
		return
	}
	if o.EndedAt.After(out.FailedAt) {
		out.Failed, out.FailedAt = short(fmt.Sprintf("agent %s: %s (%s): %s", a.agent.Metadata.Name, o.Stage, o.Code, o.Message)), *o.EndedAt
	}
}

func waitedFor(o *resource.AgentOrder) string {
	if o.Stage == "" {
		return "it did not hear of it"
	}
	return "it waited: " + o.Message
}

// maxWhy bounds a reason in bytes: roll-outs store as much of it.
const maxWhy = 120

func short(s string) string { return cut(s, maxWhy) }

// cut is at most so many bytes of a text, and no half of a character.
func cut(s string, most int) string { return strings.ToValidUTF8(s[:min(len(s), most)], "") }

// paused reports whether an agent was not yet begun by an order: it has not said anything of it, or waits. Its time does
// not run then.
func paused(o *resource.AgentOrder) bool {
	return o.Stage == "" || o.Stage == string(message.UpgradeWaiting)
}

// downRule says why nothing more is begun with a rack; empty if something may. The first row that fits decides.
//
//	order | dark | paused | down
//	no    | yes  | *      | dark
//	no    | no   | *      | up
//	yes   | yes  | *      | attempt
//	yes   | no   | yes    | frozen
//	yes   | no   | no     | attempt
//
// order is that one of its agents has an open order, paused that it waits with it. One that fell silent with an order may
// have begun it, so its time runs.
func downRule(order, dark, paused bool) rollout.DownReason {
	switch {
	case !order && dark:
		return rollout.DownDark
	case !order:
		return ""
	case !dark && paused:
		return rollout.DownFrozen
	}
	return rollout.DownAttempt
}

// unable says why an agent cannot be upgraded to the package; empty if it can.
func (m aim) unable(a crew) string {
	switch {
	case !a.able && !a.dark:
		return noUpgrade
	case !a.able:
		return ""
	case m.manifest.Version != "" && !m.manifest.Follows(a.version):
		return short(fmt.Sprintf("its agent runs %.40s, and the package wants %.40s or newer", a.version, m.manifest.From))
	}
	return ""
}

const noUpgrade = "its agent has no upgrade.keys, or was not started by the launcher"

// seats are the racks that an upgrade is for, in order of name.
func (c *Room) seats(racks []*resource.Rack, now time.Time) (out []*seat) {
	for _, r := range racks {
		s := &seat{rack: r}
		if active, ok := c.crew(r.Status.Agent, now); ok {
			if standby, ok := c.crew(r.Status.Standby, now); ok && standby.able && (!standby.dark || standby.order.Open()) {
				s.crew = append(s.crew, standby)
			}
			s.crew = append(s.crew, active)
		}
		out = append(out, s)
	}
	return out
}

func (c *Room) crew(name string, now time.Time) (a crew, ok bool) {
	if name == "" {
		return a, false
	}
	agent, err := store.Peek[*resource.Agent](c.cfg.Objects, name)
	if err != nil {
		return a, false
	}
	a = crew{agent: agent, order: agent.Status.Order, dark: true}
	if l, err := c.cfg.Ledgers.Peek(name); err == nil {
		a.able, a.version = slices.Contains(l.Peer.Capabilities, message.CapUpgrade), l.Peer.Version
	}
	if r, at, heard := c.cfg.Reports.Agent(name); heard {
		a.dark = now.Sub(at) > reports.DarkAfter
		if r.Upgrade != nil {
			a.runs = r.Upgrade.Running
		}
	}
	return a, true
}
