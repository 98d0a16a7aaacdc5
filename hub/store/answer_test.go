package store_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
)

func TestAnswers(t *testing.T) {
	mem, now := storetest.NewMemory(), time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: func() time.Time { return now }, NewID: func() string { return "01ID" }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, ctx := open(), t.Context()
	begin := func(caller, key string) (store.Answer, bool) {
		t.Helper()
		a, found, err := s.Answers.Begin(ctx, caller, key, []byte("digest"))
		if err != nil {
			t.Fatal(err)
		}
		return a, found
	}
	a, found := begin("ha", "k")
	if found || a.Revision == 0 {
		t.Fatalf("%+v", a)
	}
	woken, stop := s.Subscribe()
	defer stop()
	a.Status, a.Type, a.Body = 200, "application/json", []byte("{}")
	if err := s.Answers.End(ctx, "ha", "k", a); err != nil {
		t.Fatal(err)
	}
	select {
	case <-woken:
		t.Error("an answer wakes those who wait for changes")
	default:
	}
	s = open() // as after a restart
	if got, found := begin("ha", "k"); !found || got.Status != 200 || string(got.Body) != "{}" || string(got.Request) != "digest" {
		t.Fatalf("%v %+v", found, got)
	}
	if _, found := begin("ops", "k"); found {
		t.Error("the key of another caller is found")
	}
	long, _ := begin("ha", "long")
	long.Status, long.Body = 200, bytes.Repeat([]byte("x"), store.MaxAnswerBody+1)
	if err := s.Answers.End(ctx, "ha", "long", long); err != nil {
		t.Fatal(err)
	}
	if got, _ := begin("ha", "long"); !got.Dropped || got.Body != nil || got.Status != 200 {
		t.Errorf("%+v", got)
	}
	dropped, _ := begin("ha", "drop")
	if err := s.Answers.Drop(ctx, "ha", "drop", dropped); err != nil {
		t.Fatal(err)
	}
	if err := s.Answers.End(ctx, "ha", "drop", dropped); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("what was dropped is ended: %v", err)
	}
	now = now.Add(store.AnswerLife)
	if got, found := begin("ha", "k"); found {
		t.Errorf("%+v after its life", got)
	}
}

// However many keys a caller makes, so many are kept; and those of others stay.
func TestAnswersAreBounded(t *testing.T) {
	mem, now := storetest.NewMemory(), time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: func() time.Time { return now }, NewID: func() string { return "01ID" }})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(caller, key string) bool {
		t.Helper()
		_, found, err := s.Answers.Begin(t.Context(), caller, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	kept := func() int {
		t.Helper()
		all, _, err := mem.List(t.Context(), "answer.")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	begin("ops", "first")
	for i := range store.MaxAnswers + 5 {
		begin("ha", fmt.Sprint(i))
	}
	if n := kept(); n != store.MaxAnswers+1 {
		t.Errorf("%d are kept", n)
	}
	if !begin("ops", "first") || !begin("ha", "5") || begin("ha", "4") {
		t.Error("another than the caller's oldest made room")
	}
	now = now.Add(store.AnswerLife)
	for i := range store.MaxAnswers {
		begin("new", fmt.Sprint(i))
	}
	if n := kept(); n != store.MaxAnswers {
		t.Errorf("%d are kept after the life of all but %d", n, store.MaxAnswers)
	}
}
