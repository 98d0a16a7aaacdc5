package decide

import (
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// foreign says whether something was given to another incarnation than the
// agent's; empty is not given to any yet.
func foreign(incarnation, own string) bool {
	return incarnation != "" && incarnation != own
}

// end ends a request, and returns the event that says so.
func (s *RequestState) end(now time.Time, outcome resource.Outcome, reason string) resource.Event {
	s.Outcome, s.Reason, s.EndedAt = outcome, reason, now
	return resource.Event{
		At: now, Server: s.Server, Code: resource.EventRequestEnded,
		Message: fmt.Sprintf("%s %s: %s %s", s.Action, s.ID, outcome, reason),
	}
}

// Renew is applied to every record when an agent takes a new incarnation, because
// its disk was rolled back: what the record says is under way may have ended since.
// Requests end as unknown, and so does a network boot, and a boot by a restart: nothing
// more is sent for it, and what runs is left alone, because it may be the installed
// system (P4, P9). A late installed report of it is still believed.
func Renew(now time.Time, r Record) (Record, []resource.Event) {
	c := r.clone()
	var happened []resource.Event
	for i := range c.Requests {
		if s := &c.Requests[i]; s.Outcome == resource.OutcomePending {
			e := s.end(now, resource.OutcomeUnknown, givenToEarlier)
			e.Server = c.Server
			happened = append(happened, e)
		}
	}
	c.Pending = false // a hold that lies marks it again
	if g := c.Guard; g != nil && g.State == GuardSet {
		g.State = GuardKnown // it may have been put back since
	}
	if a := c.Attempt; a.Open() && (a.Network() || a.Order.Restart) {
		a.Stage.Ending.Reason = "outcome unknown: it was begun on an earlier disk of this agent"
		if a.Stage.State == resource.AttemptFetched || a.Marks.Cached && !a.Stage.PowerOn.Sent.IsZero() {
			c.spend(a.Stage.Ending.Reason)
		}
		a.Stage.Ending.Code = resource.AttemptOutcomeUnknown
		a.Stage.enter(resource.AttemptFailed, now)
		c.Residue.disarm()
		happened = append(happened, resource.Event{
			At: now, Server: c.Server, Code: resource.EventAttemptFailed, Message: fmt.Sprintf("%s boot: %s", a.Order.Target, a.Stage.Ending.Reason),
		})
	}
	return c, happened
}

// Recover is applied to every record when an agent starts. A boot file that was
// being served when the agent died may have been read to its end, so the boot
// counts as fetched: it is never repeated by guess (P9).
// changed says whether anything came of it; a record that was recovered does not change again.
func Recover(r Record) (c Record, changed bool) {
	c = r.clone()
	if a := c.Attempt; a.Open() && a.Marks.Served && a.Stage.State != resource.AttemptFetched {
		a.Stage.enter(resource.AttemptFetched, a.Stage.Since) // nobody knows when it was fetched
		a.Stage.Evidence = protocol.EvidenceFetched
		a.Stage.Ending.Reason = "assumed: the agent restarted while the boot file was being served"
		a.Marks.Assumed = true
		c.ran()
		changed = true
	}
	if a, m := c.Attempt, c.Residue.Medium(); a.Open() && m.Boots() && m.Attempt == a.ID && !a.Marks.Cached {
		a.Marks.Cached, changed = true, true // what the BMC read meanwhile, nobody has counted
	}
	return c, changed
}
