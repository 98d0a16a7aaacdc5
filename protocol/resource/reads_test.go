package resource

import (
	"testing"
	"time"

	"rackboot/protocol"
)

func TestStaleAfter(t *testing.T) {
	for _, row := range []struct {
		name       string
		poll, took time.Duration
		want       time.Duration
	}{
		{"the usual poll", 15 * time.Second, 0, 45 * time.Second},
		{"a slow BMC", 15 * time.Second, 9 * time.Second, 72 * time.Second},
		{"no read takes longer than its bound", 15 * time.Second, time.Hour, 90 * time.Second},
		{"a clock that was stepped back between", 15 * time.Second, -time.Hour, 45 * time.Second},
		{"polled oftener than is reported", time.Second, 0, 45 * time.Second},
		{"a rare poll", 10 * time.Minute, 0, 30 * time.Minute},
		{"a rack that says nothing", 0, 0, 45 * time.Second},
	} {
		if got := StaleAfter(row.poll, row.took); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

func TestReadAgo(t *testing.T) {
	made := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	read := func(ago time.Duration) protocol.Observation {
		return protocol.Observation{StartedAt: made.Add(-ago), ReadAt: made}
	}
	for _, row := range []struct {
		name  string
		r     ServerReport
		want  time.Duration
		known bool
	}{
		{"as the agent says", ServerReport{ReadAge: time.Second, Observation: read(time.Hour)}, time.Second, true},
		{"of an agent that does not", ServerReport{Observation: read(time.Minute)}, time.Minute, true},
		{"nothing was read", ServerReport{}, 0, false},
		{"its clock was stepped back since", ServerReport{Observation: read(-time.Minute)}, 0, false},
	} {
		got, known := row.r.ReadAgo(made)
		if known != row.known || known && got != row.want {
			t.Errorf("%s: %s, %t", row.name, got, known)
		}
	}
}
