package link

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// The hub hears of guard mode at once, whatever can still be read of the store, and of its end. What
// it answers then is heeded and not written, and nothing is acknowledged.
func TestGuardModeIsSaid(t *testing.T) {
	for _, row := range []struct {
		name         string
		breaks, mend func(*statetest.Memory)
	}{
		{"full", func(m *statetest.Memory) { m.SetFull(true) }, func(m *statetest.Memory) { m.SetFull(false) }},
		{"cannot be read", func(m *statetest.Memory) { m.SetBroken(true) }, func(m *statetest.Memory) { m.SetBroken(false) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, statetest.NewMemory(), "a")
			r.room.Connected(r)
			if h := r.hellos(); len(h) != 1 || h[0].Guard || h[0].Run != "a" {
				t.Fatalf("it says %+v", h)
			}
			heads := map[string]protocol.Head{}
			r.answers(message.Sync{Heads: heads, Nonce: "n1", Fence: message.Fence{Number: 1, Hub: "h"}})
			in, err := r.room.cfg.Store.Documents.Applied()
			if err != nil || in.Fence.Number != 1 {
				t.Fatalf("%+v, %v", in, err)
			}
			row.breaks(r.db)
			r.guard = true
			r.now = r.now.Add(time.Second)
			r.room.Guards()
			h := r.hellos()
			if len(h) != 1 || !h[0].Guard || h[0].Nonce != "n1" || h[0].Incarnation != in.Incarnation {
				t.Fatalf("it says %+v", h)
			}
			for i, m := range []message.Sync{
				{Nonce: "n2", Fence: message.Fence{Number: 2, Hub: "next"}},
				{Nonce: "n2", Heads: heads, Fence: message.Fence{Number: 2, Hub: "next"}},
			} {
				r.now = r.now.Add(time.Second)
				r.answers(m)
				if verified, _ := r.room.clock.fresh(); !verified || !r.room.session.isAnswered() || r.room.Now().IsZero() {
					t.Errorf("answer %d does not count: %t, %s", i, verified, r.room.Now())
				}
			}
			r.now = r.now.Add(time.Minute)
			if h := r.hellos(); len(h) != 0 {
				t.Errorf("it goes on saying %+v", h)
			}
			r.answers(message.Sync{Renew: in.Incarnation, Again: true, Nonce: "n3", Fence: message.Fence{Number: 2, Hub: "next"}})
			if r.room.Dismissed() {
				t.Error("it takes itself for an old copy, and cannot write that")
			}
			r.sent = nil
			r.says(message.LeafHold, message.HoldDoc{})
			r.room.Acknowledge(message.Applied{Doc: message.LeafHold})
			if r.heard.holds != 1 || len(r.sent) != 0 {
				t.Errorf("%d documents taken, %d messages", r.heard.holds, len(r.sent))
			}
			row.mend(r.db)
			r.guard = false
			r.now = r.now.Add(time.Minute)
			h = r.hellos()
			if len(h) != 1 || h[0].Guard || h[0].Nonce != "n3" || h[0].Fence.Number != 1 {
				t.Errorf("afterwards it says %+v", h)
			}
			r.answers(message.Sync{Heads: heads, Nonce: "n4", Fence: message.Fence{Number: 2, Hub: "next"}})
			if in, err := r.room.cfg.Store.Documents.Applied(); err != nil || in.Fence.Number != 2 {
				t.Errorf("afterwards it follows %+v, %v", in, err)
			}
			if c := r.conditions(); c != "" {
				t.Errorf("conditions %s", c)
			}
		})
	}
}

// outbox counts the reports that are sent.
type outbox struct{ sent atomic.Int64 }

// Report implements reports.Sender.
func (o *outbox) Report(all []message.Report) error {
	o.sent.Add(int64(len(all)))
	return nil
}

// Events implements reports.Sender.
func (o *outbox) Events() time.Duration { return time.Hour }

// Reports that went out before the hub has answered in guard mode have a nonce that it does not believe
// any more: all are sent again once it has.
func TestReportsAfterTheAnswerInGuardMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, statetest.NewMemory(), "a")
		box := &outbox{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.room.cfg.Reports.Run(ctx, nobody{}, box)
		settled := func() int64 {
			time.Sleep(time.Minute) // whatever was to be sent soon
			synctest.Wait()
			return box.sent.Load()
		}
		r.room.Connected(r)
		r.hellos()
		r.answers(message.Sync{Heads: map[string]protocol.Head{}, Nonce: "n1", Fence: message.Fence{Number: 1, Hub: "h"}})
		r.room.cfg.Reports.Put(resource.ServerReport{Server: "n1"}, resource.PhaseInitial)
		r.guard = true
		r.room.Guards()
		r.hellos()
		before := settled()
		r.answers(message.Sync{Nonce: "n2", Fence: message.Fence{Number: 1, Hub: "h"}})
		if after := settled(); before == 0 || after == before {
			t.Errorf("%d reports before the answer, %d after it", before, after)
		}
	})
}

// nobody is that no BMC was found.
type nobody struct{}

// Found implements reports.Found.
func (nobody) Found() []resource.FoundBMC { return nil }
