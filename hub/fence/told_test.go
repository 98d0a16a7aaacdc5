package fence

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state/heads"
)

// What an agent was told of the store, against what there is: less is a loss, by kinds, and the hub only
// reads from then on; what a restore has replaced is over.
func TestTold(t *testing.T) {
	sum := func(n uint64) heads.Sum { return heads.Sum{Count: n, Digest: heads.Digest{n, n}} }
	now := heads.Checkpoint{Store: "one", Epoch: 1, Sequence: 10, Kinds: map[string]heads.Sum{"res.holds": sum(2), "res.claims": sum(1)}}
	for name, c := range map[string]struct {
		then  func(*heads.Checkpoint)
		grows uint64 // what this start has written since it began
		lost  string // a part of what is said of the loss; empty is none
		why   string
	}{
		"as much": {then: func(*heads.Checkpoint) {}},
		"less":    {then: func(c *heads.Checkpoint) { c.Sequence = 9 }},
		"more": {then: func(c *heads.Checkpoint) {
			c.Sequence, c.Kinds = 12, map[string]heads.Sum{"res.holds": sum(3), "res.claims": sum(1)}
		}, lost: "some of res.holds, of which there were 3"},
		"more, which has come since": {then: func(c *heads.Checkpoint) { c.Sequence = 12 }, grows: 5, lost: "up to 10, and had 0 up to 12"},
		"of a store before":          {then: func(c *heads.Checkpoint) { c.Store, c.Epoch, c.Sequence = "zero", 0, 90 }},
		"of another, of one time":    {then: func(c *heads.Checkpoint) { c.Store = "two" }, why: "store two"},
		"of a later restore":         {then: func(c *heads.Checkpoint) { c.Store, c.Epoch = "two", 2 }, why: "epoch 2"},
	} {
		t.Run(name, func(t *testing.T) {
			mem := storetest.NewMemory()
			st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "id" }})
			if err != nil {
				t.Fatal(err)
			}
			b, err := Begin(t.Context(), st.Meta, time.Now, slog.New(slog.DiscardHandler), "hub")
			if err != nil {
				t.Fatal(err)
			}
			if _, known := b.HubHead(); known {
				t.Error("something is told before anything is known")
			}
			was := now
			c.then(&was)
			b.epoch = was.Epoch
			b.Follows(func() *heads.Checkpoint { return &was })
			kept, known := b.HubHead()
			if !known || kept.Kinds["res.claims"].Count != 1 || len(kept.Kinds["res.claims"].Digest) != 16 {
				t.Fatalf("told is %+v", kept)
			}
			b.epoch = now.Epoch
			if _, known := b.HubHead(); known != (was.Epoch == now.Epoch) {
				t.Errorf("what was known of epoch %d is told in epoch %d: %t", was.Epoch, now.Epoch, known)
			}
			kept.Hub = "the start before"
			is := now
			b.Follows(func() *heads.Checkpoint { return &is })
			is.Sequence += c.grows
			if b.Told("r1-1", message.HubHead{}) != "" || b.Lost() != nil {
				t.Error("of nothing something follows")
			}
			if why := b.Told("r1-1", kept); (c.why == "") != (why == "") || !strings.Contains(why, c.why) {
				t.Errorf("it says %q", why)
			}
			if l := b.Lost(); (l == nil) != (c.lost == "") || l != nil && (!strings.Contains(l.Error(), c.lost) || strings.Contains(l.Error(), "res.claims")) {
				t.Errorf("lost is %v", l)
			}
			if err := b.Writable(); (c.lost != "") != (protocol.CodeOf(err) == protocol.CodeUnavailable) {
				t.Errorf("it writes: %v", err)
			}
		})
	}
}
