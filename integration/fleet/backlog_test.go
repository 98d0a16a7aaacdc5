package fleet

import (
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// Too many events leave one record of the lost ones, with their numbers, and what the hub has
// acknowledged is forgotten.
func TestBacklog(t *testing.T) {
	now := time.Unix(0, 0)
	var b backlog
	for range maxEvents + 5 {
		b.add(resource.Event{At: now, Code: resource.EventPowerSeen})
	}
	first := b.Waiting[0]
	if len(b.Waiting) != maxEvents || first.Code != resource.EventLost || first.From != 1 || first.Seq != 6 || b.Waiting[1].Seq != 7 || b.tail() != 6 {
		t.Fatalf("%d wait, the first is %+v, the second %+v", len(b.Waiting), first, b.Waiting[1])
	}
	sent, _ := b.batch(now, "s")
	if len(sent) != eventBatch {
		t.Fatalf("a batch of %d", len(sent))
	}
	if again, wait := b.batch(now.Add(eventPause/2), "s"); again != nil || wait != eventPause/2 {
		t.Errorf("sent again: %d events, to wait %s", len(again), wait)
	}
	for what, at := range map[string]time.Duration{"s": eventPause, "another session": 0} {
		if again, _ := b.batch(now.Add(at), what); len(again) != eventBatch {
			t.Errorf("%s: %d events", what, len(again))
		}
	}
	b.acknowledged(sent[len(sent)-1].Seq)
	if next, _ := b.batch(now, "s"); next[0].Seq != sent[len(sent)-1].Seq+1 {
		t.Errorf("the next is %d", next[0].Seq)
	}
	b.acknowledged(b.Last)
	if b.tail() != 0 || b.Waiting != nil {
		t.Errorf("%d wait", len(b.Waiting))
	}
}
