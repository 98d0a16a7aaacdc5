package rollouts

import (
	"context"

	"rackboot/hub/plan/rollout"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// tellRollout files what a step has changed that people want to know.
func (c *Room) tellRollout(ctx context.Context, g *resource.ServerGroup, was resource.RolloutStatus, out rollout.Result) {
	st := out.Status
	said := rolloutNews(was.Phase, st.Phase, st.Wave > was.Wave)
	if said == "" {
		return
	}
	c.cfg.Revisions.Event(ctx, g, "roll-out of revision %d %s: %s", st.Revision, said, out.Message)
	if st.Phase.Over() && !was.Phase.Over() {
		c.ended.WithLabelValues(string(st.Phase)).Inc()
	}
}

// rolloutNews says in words what is new; empty if nothing is. The first row that fits
// decides.
//
//	phase now  | phase before | next wave | said
//	Paused     | Paused       | *         | nothing
//	Paused     | *            | *         | is paused
//	Completed  | Completed    | *         | nothing
//	Completed  | *            | *         | is complete
//	RolledBack | RolledBack   | *         | nothing
//	RolledBack | *            | *         | has failed and is rolled back
//	Failed     | Failed       | *         | nothing
//	Failed     | *            | *         | has failed
//	Aborted    | Aborted      | *         | nothing
//	Superseded | Superseded   | *         | nothing
//	*          | *            | yes       | begins its next wave
//	*          | *            | no        | nothing
func rolloutNews(was, now resource.RolloutPhase, wave bool) string {
	switch {
	case was == now && (now.Over() || now == resource.RolloutPaused):
		return ""
	case now == resource.RolloutPaused:
		return "is paused"
	case now == resource.RolloutCompleted:
		return "is complete"
	case now == resource.RolloutRolledBack:
		return "has failed and is rolled back"
	case now == resource.RolloutFailed:
		return "has failed"
	case wave:
		return "begins its next wave"
	}
	return ""
}

// endedRollout notes with a revision how its roll-out went. Doing it again changes nothing.
func (c *Room) endedRollout(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, st resource.RolloutStatus) error {
	failed := 0
	for _, m := range st.Members {
		if m.State == resource.MemberFailed {
			failed++
		}
	}
	for i, r := range p.History[g.Metadata.UID] {
		s := r.Status
		if r.Spec.Number != st.Revision {
			continue
		}
		s.Result, s.Message, s.EndedAt, s.Failed = "", "", nil, failed
		if st.Phase.Over() {
			s.Result, s.Message, s.EndedAt = st.Phase, st.Reason, st.EndedAt
		}
		if was := r.Status; was.Result == s.Result && was.Message == s.Message && was.Failed == s.Failed && (was.EndedAt == nil) == (s.EndedAt == nil) {
			return nil
		}
		own := store.Copy(c.cfg.Objects, r)
		own.Status = s
		if err := c.cfg.Objects.Put(ctx, own); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.rollout.noted")
		p.History[g.Metadata.UID][i] = own
	}
	return nil
}
