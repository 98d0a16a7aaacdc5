package faults

import (
	"time"

	"rackboot/protocol"
)

// hardware does something at random that nobody ordered: a button is pressed, mains
// fails, a BMC shows something else than what is so, forgets an order, or is late with one. It never
// shows Off for a server that runs: whoever cannot believe that of a BMC cannot fence
// with it.
func (w *wild) hardware() {
	names := []string{installed, claimed, unclaimed}
	name := names[w.rng.IntN(len(names))]
	m := w.machines[name]
	switch w.rng.IntN(6) {
	case 0:
		w.note("the button of %s is pressed", name)
		w.book.disturbed(name)
		m.button()
	case 1:
		d := w.random(2 * time.Minute)
		w.note("mains of %s fails for %s", name, d)
		w.book.disturbed(name)
		m.mains(false)
		w.later(d, func() { m.mains(true) })
	case 2, 3:
		lies := []protocol.PowerState{protocol.PowerUnknown, protocol.PowerPoweringOff, protocol.PowerPoweringOn, protocol.PowerPaused}
		lie, d := lies[w.rng.IntN(len(lies))], w.random(time.Minute)
		w.note("the BMC of %s shows %s for %s", name, lie, d)
		w.book.disturbed(name)
		m.show(lie)
		w.later(d, func() { m.show("") })
	case 4:
		d := w.random(25 * time.Second)
		w.note("the BMC of %s does the next On %s late", name, d)
		m.lag(d)
	default:
		w.note("the BMC of %s forgets an order", name)
		m.forget()
	}
}

// later does something while time passes.
func (w *wild) later(d time.Duration, do func()) {
	w.timers = append(w.timers, time.AfterFunc(d, do))
}

// mend makes all hardware honest.
func (w *wild) mend() {
	for _, t := range w.timers {
		t.Stop()
	}
	w.timers = nil
	for _, m := range w.machines {
		m.mend()
	}
}
