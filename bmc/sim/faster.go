package sim

import (
	"slices"
	"time"
)

// Faster is the personality with every time divided, for tests that wait for
// real. The clock of the manager stays as wrong as it is, and Retry-After too.
func (p Personality) Faster(by int) Personality {
	p.Latency.Slow = slices.Clone(p.Latency.Slow)
	for i := range p.Latency.Slow {
		p.Latency.Slow[i].Takes /= time.Duration(by)
	}
	for _, d := range p.times() {
		*d /= time.Duration(by)
	}
	return p
}

// times are the times of a personality.
func (p *Personality) times() []*time.Duration {
	return []*time.Duration{
		&p.PowerOnDelay, &p.PowerOffDelay, &p.AnswerDelay, &p.RefuseOnFor,
		&p.Latency.P50, &p.Latency.P90, &p.Latency.P99, &p.Latency.Max,
		&p.Boot.BusyInBoot,
		&p.Power.StaleFor, &p.Power.OnLate, &p.Power.BusyAfter, &p.Power.Gap, &p.Power.RefuseAfter,
		&p.Session.Timeout, &p.Session.LockFor, &p.Account.ApplyAfter, &p.Wire.DropIdle, &p.Wire.Drip, &p.Power.TaskTakes,
		&p.Event.Interval, &p.BIOS.JobHidden, &p.Update.Takes,
	}
}
