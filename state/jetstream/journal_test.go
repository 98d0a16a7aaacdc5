package jetstream_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
)

func openJournal(t *testing.T, cfg jetstream.Config) *jetstream.Journal {
	t.Helper()
	cfg.Name, cfg.Timeout = "Journal", patience
	j, err := jetstream.OpenJournal(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Each writer's records come one after the other, whatever others write between; whoever does not know the last one
// writes nothing.
func TestJournal(t *testing.T) {
	conn := testServer(t, t.TempDir())
	j := openJournal(t, jetstream.Config{Conn: conn})
	ctx := t.Context()
	if _, err := j.Last(ctx, "a"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("nothing is there: %v", err)
	}
	last := map[string]uint64{}
	for i := range 10 {
		writer := []string{"a", "b-1", "a"}[i%3]
		seq, err := j.Append(ctx, writer, fmt.Appendf(nil, "%d", i), last[writer])
		if err != nil || seq != uint64(i+1) {
			t.Fatal(seq, err)
		}
		last[writer] = seq
	}
	for name, after := range map[string]uint64{"none": 0, "an older one": 1, "another's": last["b-1"], "one to come": last["a"] + 1} {
		if _, err := j.Append(ctx, "a", []byte("x"), after); !errors.Is(err, state.ErrConflict) {
			t.Errorf("after %s: %v", name, err)
		}
	}
	r, err := j.Last(ctx, "a")
	if err != nil || string(r.Data) != "9" || r.Seq != 10 || r.Subject != "a" {
		t.Errorf("last: %+v, %v", r, err)
	}
	if r, err = j.Next(ctx, "b-1", 3); err != nil || string(r.Data) != "4" {
		t.Errorf("next: %+v, %v", r, err)
	}
	if _, err = j.Next(ctx, "b-1", last["b-1"]+1); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("next of the last: %v", err)
	}
	list, err := j.Read(ctx, "a", 2, 4)
	var read []string
	for _, r := range list {
		read = append(read, string(r.Data))
	}
	if err != nil || strings.Join(read, " ") != "2 3 5 6" {
		t.Errorf("read: %v, %v", read, err)
	}
	if writers, err := j.Writers(ctx); err != nil || !slices.Equal(writers, []string{"a", "b-1"}) {
		t.Errorf("writers: %v, %v", writers, err)
	}
	if newest, err := j.Newest(ctx); err != nil || newest != 10 {
		t.Errorf("newest: %d, %v", newest, err)
	}
	if size, err := j.Size(ctx); err != nil || size == 0 {
		t.Errorf("size: %d, %v", size, err)
	}
	for _, name := range []string{"", "a.b", "$x", "a b", "*"} {
		if _, err := j.Append(ctx, name, nil, 0); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The limit that an operator has set stays, and what does not fit is refused; nothing older goes for it.
func TestJournalLimit(t *testing.T) {
	conn := testServer(t, t.TempDir())
	j := openJournal(t, jetstream.Config{Conn: conn})
	ctx := t.Context()
	first, err := j.Append(ctx, "a", make([]byte, 1000), 0)
	if err != nil {
		t.Fatal(err)
	}
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(ctx, "Journal")
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.MaxBytes = 1500
	if _, err := js.UpdateStream(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	j = openJournal(t, jetstream.Config{Conn: conn})
	if _, err := j.Append(ctx, "a", make([]byte, 1000), first); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("beyond the limit: %v", err)
	}
	if r, err := j.Last(ctx, "a"); err != nil || r.Seq != first {
		t.Errorf("%+v, %v", r, err)
	}
	// What was exported is purged by the operator; the number of what follows stays.
	second, err := j.Append(ctx, "a", []byte("x"), first)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(ctx, natsjs.WithPurgeSubject("journal.a"), natsjs.WithPurgeSequence(second)); err != nil {
		t.Fatal(err)
	}
	if list, err := j.Read(ctx, "a", 0, 10); err != nil || len(list) != 1 || list[0].Seq != second {
		t.Errorf("after a purge: %+v, %v", list, err)
	}
	if err := s.Purge(ctx, natsjs.WithPurgeSubject("journal.a")); err != nil {
		t.Fatal(err)
	}
	if seq, err := j.Append(ctx, "a", []byte("x"), 0); err != nil || seq != second+1 {
		t.Errorf("after a purge of all: %d, %v", seq, err)
	}
}

func TestJournalOfAnother(t *testing.T) {
	conn := testServer(t, t.TempDir())
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), natsjs.StreamConfig{Name: "Journal", Subjects: []string{"journal.>"}}); err != nil {
		t.Fatal(err)
	}
	_, err = jetstream.OpenJournal(t.Context(), jetstream.Config{Conn: conn, Name: "Journal"})
	if protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
}
