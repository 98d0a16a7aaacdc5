package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Stage is how far an attempt has come, and what is known of it there.
type Stage struct {
	State resource.AttemptState `json:"state"`
	Since time.Time             `json:"since"` // when State was entered
	// Epoch is that of before the power-on.
	Epoch    uint64                `json:"epoch"`
	Arming   Arming                `json:"arming,omitzero"`
	PowerOn  PowerOn               `json:"powerOn,omitzero"`
	Observed protocol.BootTarget   `json:"observed,omitempty"` // how firmware booted
	Evidence protocol.EvidenceKind `json:"evidence,omitempty"`
	// Class is how strong the evidence of a success is; empty before.
	Class resource.EvidenceClass `json:"class,omitempty"`
	// Unattested is why a discovery is not attested whose report came, also where that was not enough, by code; empty of others.
	Unattested string `json:"unattested,omitempty"`
	Ending     Ending `json:"ending,omitzero"`
	// Course is what was entered and when, in order, State the last; at most maxCourse, then the last is
	// replaced. It is empty of a boot that nobody ordered.
	Course []Passage `json:"course,omitempty"`
}

// Passage is that a state was entered from another one. A wait in it sets Since anew, and not At.
type Passage struct {
	State resource.AttemptState `json:"state"`
	At    time.Time             `json:"at"` // by the agent's clock
}

// maxCourse bounds Course: seven states, and room for attempts that were given up too early.
const maxCourse = 24

// begunStage is the first stage of an attempt.
func begunStage(now time.Time, epoch uint64, over protocol.BootTarget) (st Stage) {
	st = Stage{Epoch: epoch, Arming: Arming{Over: over}}
	st.enter(resource.AttemptPreparing, now)
	return st
}

// enter goes to a state, which lasts from now on. It is the only one that does.
func (st *Stage) enter(s resource.AttemptState, now time.Time) {
	if st.State != s {
		st.Course = append(st.Course[:min(len(st.Course), maxCourse-1)], Passage{s, now})
	}
	st.State, st.Since = s, now
}

// Arming is what the BMC made of the override.
type Arming struct {
	Stored protocol.Override `json:"stored,omitzero"`
	// Read is Stored as the BMC spells it; Outcome is what became of the write.
	Read    protocol.Override    `json:"read,omitzero"`
	Outcome protocol.BootOutcome `json:"outcome,omitempty"`
	// Plain says that the BMC took the override without the URL of the order.
	Plain bool `json:"plain,omitempty"`
	// Over is the target of the attempt before, whose override may still be armed where ours
	// did not come over it.
	Over protocol.BootTarget `json:"over,omitempty"`
}

// answered notes what the BMC answered to the write.
func (ar *Arming) answered(r Result) {
	*ar = Arming{Stored: r.Stored, Read: r.Read, Outcome: r.Outcome, Plain: ar.Plain || r.Plain, Over: ar.Over}
}

// PowerOn is when On, or the ForceRestart in its place, was sent.
type PowerOn struct {
	Sent  time.Time `json:"sent,omitzero"`  // first
	Again time.Time `json:"again,omitzero"` // last
	// Pending is when one was last sent that may still take effect; zero once the server was
	// read running, or the BMC refused the only one.
	Pending time.Time `json:"pending,omitzero"`
	// First is when the first was sent of those. Waited is how long was waited until none can
	// take effect any more; zero before.
	First time.Time `json:"first,omitzero"`
	// Taken is when the BMC first accepted one; zero before.
	Taken  time.Time     `json:"taken,omitzero"`
	Waited time.Duration `json:"waited,omitempty"`
}

// send notes that it is sent, and reports whether that is the first time.
func (p *PowerOn) send(now time.Time) (first bool) {
	if first = p.Sent.IsZero(); first {
		p.Sent = now
	}
	if p.Pending.IsZero() {
		p.First = now
	}
	p.Again, p.Pending, p.Waited = now, now, 0
	return first
}

// once reports whether it was sent once only: then a refusal says that nothing is pending.
func (p *PowerOn) once() bool { return p.Again.Equal(p.Sent) }

// last is when it was last sent; zero if it was not.
func (p *PowerOn) last() time.Time {
	if p.Again.After(p.Sent) {
		return p.Again
	}
	return p.Sent
}

// Ending is why an attempt ended that did not succeed.
type Ending struct {
	Reason string               `json:"reason,omitempty"`
	Code   resource.AttemptCode `json:"code,omitempty"`
	// Abandoned marks an attempt that was ended because its end was wanted.
	Abandoned bool `json:"abandoned,omitempty"`
}
