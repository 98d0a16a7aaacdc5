package agent

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestReadAtTheAgent: what the agent itself says of the age of a read, by its own clock.
func TestReadAtTheAgent(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name  string
		read  protocol.Observation
		ran   time.Duration // the agent
		age   time.Duration
		stale bool
	}{
		{"just now", protocol.Observation{StartedAt: now, ReadAt: now}, time.Hour, time.Millisecond, false},
		{"three polls ago", protocol.Observation{StartedAt: now.Add(-90 * time.Second), ReadAt: now.Add(-90 * time.Second)}, time.Hour, 90 * time.Second, false},
		{"longer ago", protocol.Observation{StartedAt: now.Add(-91 * time.Second), ReadAt: now.Add(-91 * time.Second)}, time.Hour, 91 * time.Second, true},
		{"longer ago, and slowly", protocol.Observation{StartedAt: now.Add(-91 * time.Second), ReadAt: now.Add(-88 * time.Second)}, time.Hour, 91 * time.Second, false},
		{"never, the agent has just started", protocol.Observation{}, time.Minute, time.Minute, false},
		{"never", protocol.Observation{}, 2 * time.Minute, 2 * time.Minute, true},
	} {
		a := &ages{clock: func() time.Time { return now }, started: now.Add(-row.ran)}
		age, stale := a.read(resource.ServerReport{Observation: row.read}, 30*time.Second)
		if age != row.age || stale != row.stale {
			t.Errorf("%s: %s, stale %t", row.name, age, stale)
		}
	}
	for _, s := range resource.HoldStates() {
		want := s
		switch s {
		case resource.StateFenced, resource.StateStopping, resource.StateForcing:
			want = resource.StateStale
		default:
		}
		if got := aged(s, true); got != want || aged(s, false) != s {
			t.Errorf("%s is %s, and %s", s, got, aged(s, false))
		}
	}
}
