package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

func TestHubHeadTable(t *testing.T) {
	epoch := map[string]int{"below": -1, "same": 0, "above": 1}
	doctable.Of(t, "hubhead.go", "hubHeadRule").HoldOne(t, [][]string{doctable.YesNo(), {"same", "other"}, {"below", "same", "above"}, doctable.YesNo()},
		func(in []string) string {
			return string(hubHeadRule(in[0] == "yes", in[1] == "same", epoch[in[2]], in[3] == "yes"))
		})
}

// A hub whose store has less than it said is not followed, though it has all that this agent was sent.
func TestSyncOfAHubThatWasPutBack(t *testing.T) {
	kept := message.HubHead{Store: "one", Epoch: 1, Sequence: 10}
	heads := map[string]protocol.Head{"hold": {Epoch: 1, Version: 1}}
	for name, c := range map[string]struct {
		said message.HubHead
		want SyncAction
	}{
		"as much":                {message.HubHead{Store: "one", Epoch: 1, Sequence: 10}, SyncAnswer},
		"more":                   {message.HubHead{Store: "one", Epoch: 1, Sequence: 11}, SyncAnswer},
		"less":                   {message.HubHead{Store: "one", Epoch: 1, Sequence: 9}, SyncBehind},
		"restored":               {message.HubHead{Store: "two", Epoch: 2, Sequence: 3}, SyncAnswer},
		"another, of this epoch": {message.HubHead{Store: "two", Epoch: 1, Sequence: 30}, SyncBehind},
		"nothing is said":        {message.HubHead{}, SyncAnswer},
	} {
		s := SyncSnapshot{Session: "s", Applied: heads, HubKept: kept, HubSaid: c.said}
		if got := Sync(s, message.Sync{Session: "s", Heads: heads}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
