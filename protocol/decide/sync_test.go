package decide

import (
	"maps"
	"slices"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

func TestSyncTable(t *testing.T) {
	doctable.Of(t, "sync.go", "syncRule").Hold(t,
		[][]string{
			doctable.YesNo(),
			{"mine", "other"},
			{string(syncNew), string(syncOld), string(syncOlder)},
			doctable.Words(fencedLower, fencedRival, fencedSame, fencedNewer),
			doctable.YesNo(), doctable.YesNo(), doctable.Words(headsNone, headsBehind, headsMore, headsSame),
		},
		func(in []string) []string {
			a := syncRule(syncFacts{
				refused: in[0] == "yes", mine: in[1] == "mine", at: syncAge(in[2]), fence: fenced(in[3]),
				renew: in[4] == "yes", again: in[5] == "yes", heads: heads(in[6]),
			})
			if !slices.Contains(SyncActions(), a) {
				t.Errorf("%s is not listed", a)
			}
			return doctable.Words(a)
		})
}

func TestSync(t *testing.T) {
	head := func(epoch, version uint64) protocol.Head { return protocol.Head{Epoch: epoch, Version: version} }
	type hs = map[string]protocol.Head
	s := SyncSnapshot{
		Session: "s2", Last: at(10 * sec), Incarnation: "disk-2", Fence: message.Fence{Number: 5, Hub: "b"},
		Applied: hs{"hold": head(2, 7), "rack/0": head(2, 8), "rack/1": head(2, 3)},
		Digests: map[string]string{"hold": "h", "rack/0": "r"},
	}
	same := hs{"hold": head(2, 7), "rack/0": head(2, 8), "rack/1": head(2, 3)}
	with := func(leaf string, h protocol.Head) hs {
		m := maps.Clone(same)
		m[leaf] = h
		return m
	}
	for name, tt := range map[string]struct {
		change func(*message.Sync)
		want   SyncAction
	}{
		"an answer":                            {func(*message.Sync) {}, SyncAnswer},
		"of no session":                        {func(m *message.Sync) { m.Session = "" }, SyncIgnore},
		"of an earlier session":                {func(m *message.Sync) { m.Session = "s1" }, SyncIgnore},
		"played back":                          {func(m *message.Sync) { m.At = at(9 * sec) }, SyncIgnore},
		"at the same moment":                   {func(m *message.Sync) { m.At = at(10 * sec) }, SyncAnswer},
		"a refusal played back":                {func(m *message.Sync) { m.Refused, m.Session, m.At = "x", "s1", at(0) }, SyncStop},
		"no fence":                             {func(m *message.Sync) { m.Fence = message.Fence{} }, SyncRival},
		"lower fence":                          {func(m *message.Sync) { m.Fence.Number = 4 }, SyncRival},
		"rival fence":                          {func(m *message.Sync) { m.Fence.Hub = "c" }, SyncRival},
		"newer fence":                          {func(m *message.Sync) { m.Fence = message.Fence{Number: 6, Hub: "c"} }, SyncAnswer},
		"newer fence, a clock a minute behind": {func(m *message.Sync) { m.Fence, m.At = message.Fence{Number: 6, Hub: "c"}, at(-50*sec) }, SyncAnswer},
		"newer fence, a clock a second behind": {func(m *message.Sync) { m.Fence, m.At = message.Fence{Number: 6, Hub: "c"}, at(9*sec) }, SyncAnswer},
		"the same fence, a minute behind":      {func(m *message.Sync) { m.At = at(-50 * sec) }, SyncDoubt},
		"lower fence, a minute behind":         {func(m *message.Sync) { m.Fence.Number, m.At = 4, at(-50*sec) }, SyncIgnore},
		"newer fence, no heads":                {func(m *message.Sync) { m.Fence, m.Heads = message.Fence{Number: 6, Hub: "c"}, nil }, SyncAgain},
		"no heads":                             {func(m *message.Sync) { m.Heads = nil }, SyncHeed},
		"once more":                            {func(m *message.Sync) { m.Again, m.Heads = true, nil }, SyncAgain},
		"a rolled-back disk":                   {func(m *message.Sync) { m.Again, m.Heads, m.Renew = true, nil, "disk-2" }, SyncRenew},
		"another's renewal":                    {func(m *message.Sync) { m.Again, m.Heads, m.Renew = true, nil, "disk-1" }, SyncAgain},
		"a newer document":                     {func(m *message.Sync) { m.Heads = with("hold", head(2, 8)) }, SyncLacking},
		"a document not had":                   {func(m *message.Sync) { m.Heads = with("rack/2", head(2, 1)) }, SyncLacking},
		"another content":                      {func(m *message.Sync) { m.Digests = map[string]string{"hold": "x"} }, SyncLacking},
		"the same content":                     {func(m *message.Sync) { m.Digests = map[string]string{"hold": "h"} }, SyncAnswer},
		"an older document":                    {func(m *message.Sync) { m.Heads = with("rack/0", head(2, 7)) }, SyncBehind},
		"older, newer fence":                   {func(m *message.Sync) { m.Heads, m.Fence.Number = with("rack/0", head(2, 7)), 6 }, SyncBehind},
		"no document at all":                   {func(m *message.Sync) { m.Heads = hs{} }, SyncBehind},
		"a shard less":                         {func(m *message.Sync) { delete(m.Heads, "rack/1") }, SyncAnswer},
		"restored, epoch raised":               {func(m *message.Sync) { m.Heads, m.Epoch = with("rack/0", head(1, 2)), 3 }, SyncLacking},
		"restored, epoch in head":              {func(m *message.Sync) { m.Heads = hs{"hold": head(3, 1), "rack/0": head(2, 1)} }, SyncLacking},
	} {
		m := message.Sync{Session: "s2", At: at(11 * sec), Fence: s.Fence, Heads: with("hold", same["hold"])}
		tt.change(&m)
		if got := Sync(s, m); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
