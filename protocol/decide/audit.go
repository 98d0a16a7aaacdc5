package decide

import (
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ordered notes that a reset is about to be sent.
func (p *step) ordered(k ActionKind, format string, args ...any) {
	p.rec.Ordered = p.now
	p.dirty = true
	p.happened(resource.EventOrdered, string(k)+": "+format, args...)
}

// answered notes what the BMC said to a reset.
func (p *step) answered(r Result) {
	switch r.Action {
	case ActOn, ActRestart, ActGraceful, ActForceOff:
	case ActNone, ActArm, ActDisarm, ActReadPolicy, ActGuard, ActUnguard, ActInsert, ActEject, ActClearURL:
		return
	}
	if r.Code == "" {
		p.happened(resource.EventAnswered, "%s: accepted", r.Action)
		return
	}
	p.happened(resource.EventAnswered, "%s: %s: %.300s", r.Action, r.Code, r.Message)
}

// shows notes a change of what the BMC shows of the power. What it shows again says
// nothing new: an idle rack has no events.
func (p *step) shows(o protocol.Observation) {
	if o.Power == p.rec.Seen {
		return
	}
	if p.rec.Seen == "" {
		p.happened(resource.EventPowerSeen, "%s", o.Power)
	} else {
		p.happened(resource.EventPowerSeen, "%s after %s", o.Power, p.rec.Seen)
	}
	p.rec.Seen, p.dirty = o.Power, true
}

// keys are the keys of the holds that lie.
func (p *step) keys() string {
	var keys []string
	for _, h := range p.snap.Holds {
		keys = append(keys, h.Key)
	}
	return strings.Join(keys, ", ")
}
