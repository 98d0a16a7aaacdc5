package redfish

import (
	"context"
	"sync"
	"time"
)

// clockFor bounds the read of a manager's clock: the read of the power waits for it.
const clockFor = 5 * time.Second

// sameReset is how far two LastResetTimes of one reset may be apart: some BMCs compute it from the
// uptime at each read.
const sameReset = 10 * time.Second

// managerClock reads the clock of the BMC where a LastResetTime is another one: BMCs that compute
// it from the uptime show another when their clock is set.
type managerClock struct {
	mu   sync.Mutex
	last time.Time // LastResetTime of the last read that had one
}

// beside returns the manager's DateTime for a read of the system, if its LastResetTime is the first
// or another one; empty if it is the same, and where the clock cannot be read.
func (m *managerClock) beside(ctx context.Context, l *link, s *system) string {
	is, err := time.Parse(time.RFC3339, s.lastResetTime)
	if err != nil || !plausible(s.lastResetTime) {
		return ""
	}
	m.mu.Lock()
	was := m.last
	m.last = is
	m.mu.Unlock()
	if !was.IsZero() && is.Sub(was).Abs() < sameReset {
		return ""
	}
	managers := rawsOf(fields(s.f["Links"])["ManagedBy"])
	if len(managers) == 0 {
		return ""
	}
	uri := linkOf(managers[0])
	if checkURI(uri) != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, clockFor)
	defer cancel()
	o, err := get[object](newCall(ctx, opObserve, l), uri)
	if err != nil {
		return ""
	}
	return dateTime(textOf(o.f["DateTime"]), textOf(o.f["DateTimeLocalOffset"]))
}

// dateTime is a DateTime with its zone, which some BMCs give beside it only; empty if it is none.
func dateTime(text, offset string) string {
	for _, text := range []string{text, text + offset} {
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}
