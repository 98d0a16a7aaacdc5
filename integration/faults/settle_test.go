package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// settleLimit is how long an honest network may need until nothing is open: the
// hub gives a request up two hours after its notAfter, and that is ten minutes.
const settleLimit = 3 * time.Hour

// calm lets time pass on an honest network: what waits in the bag is delivered in
// order.
func (s *site) calm(d time.Duration) {
	b, ok := s.net.(*bag)
	if !ok {
		s.wait(d)
		s.book.check()
		return
	}
	for end := time.Now().Add(d); ; {
		for range bagSize {
			l, some := b.take(0, false)
			if !some {
				break
			}
			b.deliver(l)
			s.wait(0)
		}
		s.book.check()
		left := time.Until(end)
		if left <= 0 {
			return
		}
		s.wait(min(left, 500*time.Millisecond))
	}
}

// settle heals everything, starts what is dead, and waits until nothing is open;
// then all holds are released, and again.
func (s *site) settle() {
	s.t.Helper()
	s.recover()
	s.untilSettled("with holds", false)
	for _, id := range s.live() {
		s.release(id)
	}
	s.untilSettled("without holds", true)
}

func (s *site) recover() {
	s.net.heal(s.hub.name)
	if !s.hub.alive() {
		s.hub.kill()
		s.hub.start()
	}
	s.hub.fuse.Store(0)
	for _, a := range s.agents {
		s.net.heal(a.name)
		if !a.alive() {
			a.kill()
			a.start()
		}
		a.fuse.Store(0)
	}
	s.note("everything is honest and alive")
}

// untilSettled waits until nothing is open; a request may still be while a hold
// lies on its server.
func (s *site) untilSettled(when string, requests bool) {
	s.t.Helper()
	start, resumed := time.Now(), time.Time{}
	for {
		open := s.open(requests)
		if len(open) == 0 {
			s.note("settled %s after %s", when, time.Since(start))
			return
		}
		if time.Since(start) > settleLimit {
			s.t.Fatalf("%s, after %s on an honest network: %s", when, settleLimit, strings.Join(open, "; "))
		}
		if conds := s.hub.serverConditions(installed); (s.has(conds, resource.CondUnexpectedPower) || s.has(conds, resource.CondSafeStopped)) && time.Since(resumed) > 15*time.Minute {
			// The agent cannot know what another disk of it ordered: an operator resumes.
			s.reboot(installed, 10*time.Minute)
			resumed = time.Now()
		}
		s.calm(5 * time.Second)
	}
}

func (*site) has(conds []resource.ConditionState, code resource.ConditionCode) bool {
	return slices.ContainsFunc(conds, func(c resource.ConditionState) bool { return c.Code == code })
}

// open is everything that is not as it is to be in the end.
func (s *site) open(requests bool) (open []string) {
	add := func(format string, args ...any) { open = append(open, fmt.Sprintf(format, args...)) }
	s.book.mu.Lock()
	for id, a := range s.book.requests {
		if requests && !a.lost && !ended(a.outcome) {
			add("request %s of %s has no end", id, a.Server)
		}
	}
	s.book.mu.Unlock()
	atHub := map[string]bool{}
	for _, h := range store.List[*resource.Hold](s.hub.store.Objects) {
		if h.Status.ReleasedAt != nil {
			add("the release of hold %s did not arrive", h.Metadata.Name)
		}
		atHub[h.Metadata.Name] = true
	}
	for _, a := range s.agents {
		f := a.found()
		s.openDocuments(a, f, add)
		for id, h := range f.holds {
			if !atHub[id] {
				add("hold %s on %s is enforced and nobody can release it", id, h.Server)
			}
		}
		for _, c := range s.hub.agentConditions(a.name) {
			add("%s of %s: %s", c.Code, a.name, c.Message)
		}
	}
	for id := range atHub {
		if !s.enforced(id) {
			add("hold %s is not enforced", id)
		}
	}
	for name, m := range s.machines {
		s.openServer(name, m, add)
	}
	slices.Sort(open)
	return open
}

func (s *site) enforced(id string) bool {
	return slices.ContainsFunc(s.agents, func(a *agent) bool {
		_, ok := a.found().holds[id]
		return ok
	})
}

func (s *site) openDocuments(a *agent, f found, add func(string, ...any)) {
	l, err := s.hub.store.Ledgers.Get(a.name)
	if err != nil {
		s.t.Fatal(err)
	}
	for doc, sent := range l.Sent {
		if f.heads[doc] != sent.Head || l.Acked[doc] != sent.Head {
			add("%s of %s is %v, acknowledged %v, applied %v", doc, a.name, sent.Head, l.Acked[doc], f.heads[doc])
		}
	}
}

func (s *site) openServer(name string, m *machine, add func(string, ...any)) {
	held := len(s.hub.store.Holds.On(name)) > 0
	power := m.state()
	if held && power != protocol.PowerOff {
		add("%s is held and %s", name, power)
	}
	if !held && name == installed && power != protocol.PowerOn {
		add("%s is %s, and its claim wants it On", name, power)
	}
	for _, c := range s.hub.serverConditions(name) {
		if !tolerated(name, held, c.Code) {
			add("%s of %s: %s", c.Code, name, c.Message)
		}
	}
}

// tolerated are conditions that an honest network does not end: they say what
// happened, or wait for a person.
func tolerated(server string, held bool, code resource.ConditionCode) bool {
	switch code {
	case resource.CondHeld, resource.CondHoldViolated:
		return true // the latter until the hold's release: its server came on before this disk knew of it
	case resource.CondUnexpectedPower, resource.CondSafeStopped:
		return held || server != installed // nobody can ask for a reboot
	case resource.CondPowerFailed:
		return held // its mains failed as it was powered on; the next attempt waits for the release
	case resource.CondOrphaned:
		return server == claimed // its claim was lost with a part of the hub's store: somebody has to decide
	case resource.CondGrantSpent, resource.CondGrantInvalid, resource.CondFirstBootFailed, resource.CondServerOn:
		return server == claimed
	default:
		return false
	}
}
