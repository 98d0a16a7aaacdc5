package decide

import (
	"testing"
	"time"

	"rackboot/protocol"
)

// Reads while firmware fetches its boot file must not enter Consumed again: the
// state's time would never end.
func TestConsumedIsEnteredOnce(t *testing.T) {
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		after time.Duration
		state protocol.AttemptState
	}{
		{time.Minute, protocol.AttemptConsumed},
		{fetchTimeout - 1, protocol.AttemptConsumed},
		{fetchTimeout, protocol.AttemptFailed},
	} {
		now := start.Add(row.after)
		plan := Step(now, Snapshot{
			Server: "n1", Synced: true,
			Intent: &protocol.ServerIntent{
				Server: "n1", ClaimUID: "c1", Power: protocol.WantOn, Boot: &protocol.BootIntent{ClaimUID: "c1", Generation: 1},
			},
			Settings: Settings{PollInterval: time.Second},
			Record: Record{Server: "n1", Attempt: &Attempt{
				ID: "a1", State: protocol.AttemptConsumed, Intended: protocol.TargetUefiHTTP, ClaimUID: "c1", Generation: 1,
				Since: start, At: start, OnSent: start, OnAgain: start,
			}},
			Watch:       Watch{Last: protocol.Observation{Power: protocol.PowerOn}},
			Observation: &protocol.Observation{Power: protocol.PowerOn, ReadAt: now},
		})
		a := plan.Record.Attempt
		if a == nil || a.State != row.state {
			t.Fatalf("after %s: attempt %+v, want %s", row.after, a, row.state)
		}
		if a.State == protocol.AttemptConsumed && !a.Since.Equal(start) {
			t.Errorf("after %s: Consumed since %s, want %s", row.after, a.Since, start)
		}
		for _, e := range plan.Happened {
			if e.Code == protocol.EventConsumed {
				t.Errorf("after %s: %s again", row.after, e.Code)
			}
		}
	}
}
