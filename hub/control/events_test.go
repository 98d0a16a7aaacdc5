package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/events"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func batch(incarnation string, seqs ...uint64) message.EventBatch {
	m := message.EventBatch{Session: "s", Incarnation: incarnation}
	for _, s := range seqs {
		m.Events = append(m.Events, resource.Event{Seq: s, Code: resource.EventPowerOn, Server: "n1"})
	}
	return m
}

// Events arrive at least once and are filed once, in order, over restarts of the
// hub and a new database at the agent.
func TestEvents(t *testing.T) {
	b, agent := joined(t)
	for _, c := range []struct {
		name  string
		batch message.EventBatch
		acked uint64
		filed []uint64
	}{
		{"first", batch("i", 1, 2), 2, []uint64{1, 2}},
		{"again and more", batch("i", 1, 2, 3), 3, []uint64{1, 2, 3}},
		{"older, overtaken", batch("i", 1), 3, []uint64{1, 2, 3}},
		{"after a gap, which is filed as a record of 4 to 8", batch("i", 9), 9, []uint64{1, 2, 3, 8, 9}},
		{"none", batch("i"), 9, []uint64{1, 2, 3, 8, 9}},
		{"a new database", batch("j", 1), 1, []uint64{1, 2, 3, 8, 9, 1}},
		{"the old database's, late", batch("i", 9), 9, []uint64{1, 2, 3, 8, 9, 1}},
		{"the new one again", batch("j", 1, 2), 2, []uint64{1, 2, 3, 8, 9, 1, 2}},
	} {
		b.restart()
		b.sent = nil
		b.says(agent, message.LeafEvent, c.batch)
		if m := last[message.Sync](b, agent, message.LeafSync); m.EventsAcked != c.acked || m.Session != "s" {
			t.Errorf("%s: acknowledged %d, want %d", c.name, m.EventsAcked, c.acked)
		}
		var filed []uint64
		index := uint64(0)
		for _, e := range b.control.Events.After(0, 100) {
			if e.Index <= index {
				t.Errorf("%s: index %d after %d", c.name, e.Index, index)
			}
			if index = e.Index; e.Agent == agent {
				filed = append(filed, e.Seq)
			}
		}
		if !slices.Equal(filed, c.filed) {
			t.Errorf("%s: filed %v, want %v", c.name, filed, c.filed)
		}
	}
	all := b.control.Events.After(0, 100)
	if rest := b.control.Events.After(all[1].Index, 2); len(rest) != 2 || rest[0].Index != all[2].Index {
		t.Errorf("two after the second are %+v", rest)
	}
}

// TestEventsAtOnce: who asks for what comes after the newest event that it was given misses
// none: neither one whose filing was known later than that of a later one, nor one whose
// filing seemed to have failed.
func TestEventsAtOnce(t *testing.T) {
	type poll struct {
		given []string
		after uint64
	}
	for name, row := range map[string]struct {
		does func(b *bench, file func(what string) error, look func())
		want []string
	}{
		"the second comes while nobody knows of the first": {func(b *bench, file func(string) error, look func()) {
			there, known, done := make(chan struct{}), make(chan struct{}), make(chan error, 2)
			first := true
			b.mem.AfterAppend = func(uint64) error {
				if first {
					first = false
					close(there)
					<-known
				}
				return nil
			}
			go func() { done <- file("one") }()
			<-there
			go func() { done <- file("two") }()
			look()
			close(known)
			for range 2 {
				if err := <-done; err != nil {
					b.t.Error(err)
				}
			}
		}, []string{"one", "two"}},
		"the first seems to have failed, and is filed again": {func(b *bench, file func(string) error, look func()) {
			b.mem.AfterAppend = func(uint64) error { return errors.New("no answer") }
			if file("one") == nil {
				b.t.Error("it was answered")
			}
			b.mem.AfterAppend = nil
			if err := file("two"); err != nil {
				b.t.Error(err)
			}
			look()
			if err := file("one"); err != nil {
				b.t.Error(err)
			}
		}, []string{"one", "two"}},
		"records of others between them": {func(b *bench, file func(string) error, look func()) {
			for _, what := range []string{"one", "two"} {
				if _, err := b.store.Log.Append(ctx(b.t), "receipt.x", []byte("x"), ""); err != nil {
					b.t.Error(err)
				}
				if err := file(what); err != nil {
					b.t.Error(err)
				}
			}
			look()
		}, []string{"one", "two"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			var p poll
			look := func() {
				for _, e := range b.control.Events.After(p.after, 100) {
					p.given, p.after = append(p.given, e.Message), e.Index
				}
			}
			row.does(b, func(what string) error {
				return b.control.Events.Add(ctx(t), events.Item{Event: api.EventRecord{Event: resource.Event{Message: what, Code: resource.EventPowerOn}, Agent: "a"}, ID: what})
			}, look)
			look()
			if !slices.Equal(p.given, row.want) {
				t.Errorf("given %q, want %q", p.given, row.want)
			}
		})
	}
}

// The hub files the gap once, and the tail of a Hello tells where a database begins.
func TestEventGapIsFiled(t *testing.T) {
	b, m := modernSite(t)
	m.tail = 5
	m.hello()
	m.listens()
	say := func(session string, seqs ...uint64) {
		e := batch(m.incarnation, seqs...)
		e.Session = session
		m.says(message.LeafEvent, e)
	}
	say(m.session, 7)
	say(m.session, 7, 8)
	var got []string
	for _, e := range b.control.Events.After(0, 100) {
		if e.Agent == m.name {
			got = append(got, fmt.Sprintf("%s %d-%d", e.Code, e.From, e.Seq))
		}
	}
	if want := "[EventsLost 5-6 ServerPoweredOn 0-7 ServerPoweredOn 0-8]"; strings.ReplaceAll(fmt.Sprint(got), string(resource.EventPowerOn), "ServerPoweredOn") != want {
		t.Errorf("filed %v, want %s", got, want)
	}
	if s := last[message.Sync](b, m.name, message.LeafSync); s.Nonce != m.nonce || s.Again || s.EventsAcked != 8 || s.Heads != nil {
		t.Errorf("acknowledged by %+v", s)
	}
	say("unheard", 9)
	if s := last[message.Sync](b, m.name, message.LeafSync); !s.Again || s.Nonce == m.nonce || s.EventsAcked != 9 {
		t.Errorf("a session that was not greeted is answered with %+v", s)
	}
}

// files files events of an agent, so many that those before are out of what a start reads.
func (b *bench) files(n int) {
	b.t.Helper()
	for i := range n {
		if err := b.control.Events.Add(ctx(b.t), events.Item{Event: api.EventRecord{Event: resource.Event{Message: fmt.Sprint(i), Code: resource.EventPowerOn}, Agent: "a"}}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// A hold is audited once, however old it is: its events may be older than what a start reads, or may be gone.
func TestOldHoldIsAuditedOnce(t *testing.T) {
	for name, between := range map[string]func(*testing.T, *bench){
		"nothing": func(*testing.T, *bench) {},
		"what is said of it is written down": func(t *testing.T, b *bench) {
			if err := b.control.Events.Keep(ctx(t), time.Time{}, math.MaxUint64); err != nil {
				t.Fatal(err)
			}
		},
		"its events are too old": func(t *testing.T, b *bench) {
			if err := b.control.Events.Keep(ctx(t), time.Now().Add(time.Hour), math.MaxUint64); err != nil {
				t.Fatal(err)
			}
			gone(t, b)
		},
		"there are too many": func(t *testing.T, b *bench) {
			for range 2 { // what the store keeps with a record is a guess
				if err := b.control.Events.Keep(ctx(t), time.Now().Add(-time.Hour), 10_000); err != nil {
					t.Fatal(err)
				}
			}
			gone(t, b)
		},
		"the log has lost its end since": func(t *testing.T, b *bench) {
			if err := b.control.Events.Keep(ctx(t), time.Time{}, math.MaxUint64); err != nil {
				t.Fatal(err)
			}
			raw, revision, err := b.store.Meta.Get("event-notes")
			notes := map[string]any{}
			if err == nil {
				err = json.Unmarshal(raw, &notes)
			}
			if err != nil {
				t.Fatal(err)
			}
			notes["upTo"], notes["seq"] = 1_000_000, 1_000_000
			if raw, err = json.Marshal(notes); err == nil {
				err = b.store.Meta.Put(ctx(t), "event-notes", raw, revision)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, agent := joined(t)
			id := b.place("o", "k", "n1")
			b.pass()
			b.files(events.Kept + 1)
			between(t, b)
			late := b.place("o", "late", "n1")
			b.pass()
			b.files(events.Kept + 1)
			for range 2 {
				b.restart()
				b.greets(agent)
				b.pass()
			}
			all := b.control.Events.After(0, 3*events.Kept)
			if len(all) > events.Kept || all[len(all)-1].Message == "" {
				t.Errorf("%d events are kept after a start", len(all))
			}
			b.release(id)
			b.pass()
			for hold, want := range map[string]string{id: "[hold release]", late: "[hold]"} {
				if ops := b.trail.of("Hold/" + hold); fmt.Sprint(ops) != want {
					t.Errorf("of %s there is %v on record, want %s", hold, ops, want)
				}
			}
			if !b.control.Events.Audited(resource.EventReleaseAccepted, id) || b.control.Events.Audited(resource.EventReleaseAccepted, late) {
				t.Error("of a release something else is known")
			}
		})
	}
}

// gone holds that the oldest events are, and not the newest.
func gone(t *testing.T, b *bench) {
	t.Helper()
	left, err := b.control.Events.Read(ctx(t), 0, events.Kept)
	if err != nil || len(left) == 0 || len(left) > 200 {
		t.Fatalf("%d events are left, %v", len(left), err)
	}
	if last := b.control.Events.After(0, 3*events.Kept); left[len(left)-1].Index != last[len(last)-1].Index {
		t.Error("the newest event is gone")
	}
}

// No event goes before what it says of a hold is written down.
func TestEventsStayWithoutNotes(t *testing.T) {
	b, _ := joined(t)
	b.place("o", "k", "n1")
	b.pass()
	b.files(10)
	b.mem.BeforeWrite = func(key string) error {
		if strings.HasPrefix(key, "meta.") {
			return errors.New("no room")
		}
		return nil
	}
	before, err := b.store.Log.Read(ctx(t), "event", 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if b.control.Events.Keep(ctx(t), time.Now().Add(time.Hour), 0) == nil {
		t.Error("it is said to be done")
	}
	after, err := b.store.Log.Read(ctx(t), "event", 1, 1000)
	if err != nil || len(after) != len(before) {
		t.Errorf("%d events of %d are left, %v", len(after), len(before), err)
	}
}
