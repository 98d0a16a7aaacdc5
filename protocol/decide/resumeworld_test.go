package decide

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// resume is an operator who resumes the server, at the hub or at the agent.
func (w *world) resume(t *rapid.T) {
	w.ids++
	r := resource.Request{
		ID: fmt.Sprintf("resume-%d", w.ids), Server: "server-1", Action: resource.RequestResume, By: "ann", Why: "looked at it",
		NotAfter: w.hubTime().Add(time.Duration(rapid.IntRange(-5, 600).Draw(t, "ahead")) * time.Second),
	}
	w.w.orders++
	if rapid.Bool().Draw(t, "local") {
		r.NotAfter = w.clock().Add(time.Minute)
		w.asked = append(slices.Clone(w.asked), r)
	} else {
		r.Retry = rapid.Bool().Draw(t, "retry")
		r.Incarnation = rapid.SampledFrom([]string{w.incarnation, w.incarnation, "disk-x"}).Draw(t, "given")
		w.requests = append(slices.Clone(w.requests), r)
	}
	w.poke()
}

// resumeOf is the resume that is pending.
func resumeOf(r Record) *RequestState {
	for i := range r.Requests {
		if s := &r.Requests[i]; s.Action == resource.RequestResume && s.Outcome == resource.OutcomePending {
			return s
		}
	}
	return nil
}

// restarts checks a restart: only an operator's resume of a server that was seen to
// stand asks for it, once, with its disk armed (P5, P6, P9).
func (x *witness) restarts(s Snapshot, p Plan) {
	a, last := p.Record.Attempt, p.Watch.Last
	switch {
	case len(s.Holds) > 0:
		x.t.Fatal("P2: restarted under a hold")
	case !a.Order.Restart || a.Network() || a.Stage.State != resource.AttemptPowerRequested || !p.Persist:
		x.t.Fatalf("P9: restarted without its intent on disk: %+v", a)
	case last.Power == protocol.PowerOff || last.Override.Target != protocol.TargetHdd || !last.Override.Armed():
		x.t.Fatalf("P6: restarted without the disk armed: %+v", last)
	case s.Record.Attempt != nil && s.Record.Attempt.ID == a.ID && !s.Record.Attempt.Stage.PowerOn.Sent.IsZero():
		x.t.Fatal("P9: restarted twice for one order")
	case resumeOf(p.Record) == nil:
		x.t.Fatal("P5: restarted without an operator's resume")
	}
}

// renews says whether the step renews a grant for an operator's retry.
func (x *witness) renews(s Snapshot, p Plan) bool {
	for _, r := range p.Record.Requests {
		was := slices.ContainsFunc(s.Record.Requests, func(o RequestState) bool { return o.ID == r.ID && o.Renewed })
		if r.Renewed && !was {
			if !r.Retry || r.Outcome != resource.OutcomePending || r.Local {
				x.t.Fatalf("P4: a grant was renewed by %+v", r)
			}
			return true
		}
	}
	return false
}

// retried begins the count of a grant anew where an operator has said so.
func (x *witness) retried(s Snapshot, p Plan) {
	if x.renews(s, p) {
		key := grantKey(s.Intent.Boot)
		delete(x.netAttempts, key)
		delete(x.fetched, key)
	}
}
