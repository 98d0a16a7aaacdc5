package decide

import (
	"maps"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Refusal is what the BMC last said against one kind of action. Each kind has its own
// and loses it when one is accepted, so that a failure of long ago makes nothing harder
// (baremetal-operator counts all in one, and never soft-stops again).
type Refusal struct {
	Message string
	Busy    bool // it asked for a pause: waited for, no failure
	// Fault is what it did wrong, in typed words; Times is how often in a row.
	Fault protocol.BMCFault
	Times int
}

// refused notes a refusal. The map is shared with the snapshot, so it is copied.
func (p *step) refused(r Result) {
	m := maps.Clone(p.watch.Refused)
	if m == nil {
		m = map[ActionKind]Refusal{}
	}
	message := r.Message
	if message == "" {
		message = told(r)
	}
	m[r.Action] = Refusal{
		Message: message, Busy: r.Busy || r.Outcome == protocol.BootRefusedByState,
		Fault: r.Fault, Times: m[r.Action].Times + 1,
	}
	p.watch.Refused = m
}

// forgive forgets the refusals of some kinds of action.
func (p *step) forgive(kinds ...ActionKind) {
	m := maps.Clone(p.watch.Refused)
	maps.DeleteFunc(m, func(k ActionKind, _ Refusal) bool { return slices.Contains(kinds, k) })
	p.watch.Refused = m
}

// countAnew begins to count the refusals of a kind of action anew.
func (p *step) countAnew(k ActionKind) {
	m := maps.Clone(p.watch.Refused)
	if r, ok := m[k]; ok {
		r.Times = 0
		m[k] = r
	}
	p.watch.Refused = m
}

// deriveRefusals says what the BMC refuses now.
func (p *step) deriveRefusals() {
	for _, k := range slices.Sorted(maps.Keys(p.watch.Refused)) {
		r := p.watch.Refused[k]
		code := faultCondition(r.Fault.Kind)
		switch {
		case code != conditionNone:
		case r.Busy:
			code = resource.CondBMCBusy
		default:
			code = resource.CondPowerFailed
		}
		p.raise(code, "%s: %s", k, r.Message)
	}
}
