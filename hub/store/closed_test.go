package store

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

func TestMark(t *testing.T) {
	value := []byte(`{"kind":"Server","params":{"closed":7}}`)
	if n := closedOver(value); n != 0 {
		t.Errorf("a param is taken for a mark: %d", n)
	}
	marked := withMark(value, 12)
	if n := closedOver(marked); n != 12 {
		t.Errorf("closed over %d in %s", n, marked)
	}
	if back := withoutMark(marked); string(back) != string(value) {
		t.Errorf("%s", back)
	}
	for _, odd := range []string{"", "}", `{"a":1}`, `,"closed":}`, `{"a":1,"closed":-1}`, `{"a":1,"closed":99999999999999999999}`} {
		if n := closedOver([]byte(odd)); n != 0 || string(withoutMark([]byte(odd))) != odd {
			t.Errorf("%q is closed over %d", odd, n)
		}
	}
}

// dying is a store whose hub dies at a crash point.
func dying(t *testing.T, mem *storetest.Memory, at string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: rand.Text, Crash: func(point string) {
		if point == at {
			panic(point)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dies runs something until the hub dies of it.
func dies(t *testing.T, at string, do func()) {
	t.Helper()
	defer func() {
		if p := recover(); p != at {
			t.Errorf("the hub did not come to %s: %v", at, p)
		}
	}()
	do()
}

// A hub dies between the steps of a deletion. What it closed keeps nobody out for longer than it is
// respected, the deletion can be asked for again, and who has it as it was before is not told that it was changed.
func TestDeletionDies(t *testing.T) {
	const closed, erased = "hub.store.closed", "hub.store.erased"
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		s := dying(t, mem, closed)
		apply(t, s, storetest.Site()...)
		before := must(Get[*resource.Server](s.Objects, "n1")).Metadata.Revision
		dies(t, closed, func() { _, _ = s.Delete(t.Context(), resource.KindServer, "n1") })

		s = open(t, mem)
		_, err := s.Delete(t.Context(), resource.KindServer, "n1", AtRevision(before-1))
		wantCode(t, err, protocol.CodeConflict)
		begun := time.Now()
		if _, err := s.Holds.Create(t.Context(), storetest.Hold("admin", "k", "n1")); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); waited > closedFor {
			t.Errorf("a hold waited for %v", waited)
		}
		_, err = s.Delete(t.Context(), resource.KindServer, "n1")
		wantCode(t, err, protocol.CodeConflict)

		s = dying(t, mem, closed)
		before = must(Get[*resource.Server](s.Objects, "n2")).Metadata.Revision
		dies(t, closed, func() { _, _ = s.Delete(t.Context(), resource.KindServer, "n2") })
		s = dying(t, mem, erased)
		dies(t, erased, func() { _, _ = s.Delete(t.Context(), resource.KindServer, "n2", AtRevision(before)) })
		s = open(t, mem)
		if _, err := Peek[*resource.Server](s.Objects, "n2"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("it is there: %v", err)
		}
		entries, _, err := mem.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if wrong := broken(entries); len(wrong) > 0 {
			t.Error(wrong)
		}
	})
}

// A deletion that finds a reference which it had not heard of takes its mark back.
func TestDeletionHearsLate(t *testing.T) {
	mem := storetest.NewMemory()
	one := open(t, mem)
	apply(t, one, storetest.Site()[:4]...)
	two := open(t, mem) // which does not follow
	apply(t, one, storetest.Site()[4])
	_, err := two.Delete(t.Context(), resource.KindBMC, "b1")
	wantCode(t, err, protocol.CodeConflict)
	if e, err := mem.Get(t.Context(), keyOf(resource.KindBMC, "b1")); err != nil || closedOver(e.Value) != 0 {
		t.Errorf("%s, %v", e.Value, err)
	}
	if _, err := two.Delete(t.Context(), resource.KindBMC, "b2"); err != nil {
		t.Error(err)
	}
}

// A set has something unchanged that somebody is about to delete, and something new that refers to it.
func TestClosedInTheSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		one, two := open(t, mem), open(t, mem)
		apply(t, one, storetest.Site()[:4]...)
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan error, 1)
		go func() { running <- two.Run(ctx) }()
		e, _ := one.core.mirror.get(keyOf(resource.KindBMC, "b1"))
		at, err := one.core.close(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		applied := make(chan error, 1)
		go func() {
			_, err := two.Sets.Apply(ctx, []resource.Object{storetest.BMC("b1", "r1"), storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")}, ApplyOptions{})
			applied <- err
		}()
		synctest.Wait()
		if len(applied) > 0 {
			t.Fatalf("it did not wait: %v", <-applied)
		}
		old := must(one.Objects.Get(resource.KindBMC, "b1"))
		if _, err := one.Objects.transact(t.Context(), []change{changeOf(old, nil, at, nil)}, nil, false); err != nil {
			t.Fatal(err)
		}
		if err := <-applied; err != nil {
			t.Error(err)
		}
		entries, _, err := mem.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if wrong := broken(entries); len(wrong) > 0 {
			t.Error(wrong)
		}
		stop()
		<-running
	})
}

// Whatever must know all who refer to a resource is closed for its change, and open after it, also
// when it is refused.
func TestChangesThatClose(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	apply(t, s, append(storetest.Site(), storetest.BMC("b3", "r1"), storetest.BMC("b4", "r1"))...)
	other := open(t, mem) // which does not follow
	if _, err := s.Holds.Create(t.Context(), storetest.Hold("admin", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	moved := func(name, bmc, mac string) error {
		_, err := other.Sets.Apply(t.Context(), []resource.Object{storetest.Server(name, bmc, "boot", mac)}, ApplyOptions{})
		return err
	}
	wantCode(t, moved("n1", "b3", "52:54:00:00:00:01"), protocol.CodeInvalid)
	if err := moved("n2", "b4", "52:54:00:00:00:02"); err != nil {
		t.Error(err)
	}
	seg := storetest.Segment("boot", "r1")
	seg.Spec.Role = resource.SegmentBMC
	_, err := open(t, mem).Sets.Apply(t.Context(), []resource.Object{seg}, ApplyOptions{})
	wantCode(t, err, protocol.CodeInvalid)
	entries, _, err := mem.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if closedOver(e.Value) != 0 {
			t.Errorf("%s stays closed", e.Key)
		}
	}
	if wrong := broken(entries); len(wrong) > 0 {
		t.Error(wrong)
	}
}

// A status is one write, and what it rests on is not looked at.
func TestStatusIsOneWrite(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	apply(t, s, storetest.Site()...)
	n := must(Get[*resource.Server](s.Objects, "n1"))
	n.Status.AcceptedIdentity = "x"
	var written []string
	mem.BeforeWrite = func(key string) error {
		written = append(written, key)
		return nil
	}
	before := s.core.mirror.position()
	if err := s.Objects.Put(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if want := []string{"res.servers.n1"}; !slices.Equal(written, want) || s.core.mirror.position() != before {
		t.Errorf("%q was written, want %q", written, want)
	}
	mem.BeforeWrite = nil
	c := must(s.Sets.Apply(t.Context(), []resource.Object{storetest.Claim("c1", "n1"), storetest.Claim("c2", "n1")}, ApplyOptions{}))
	for i, want := range []protocol.Code{"", protocol.CodeConflict} {
		cl := c[i].Object.(*resource.Claim)
		cl.Status.Server = "n1"
		if err := s.Objects.Put(t.Context(), cl); protocol.CodeOf(err) != want || (want != "") != errors.Is(err, state.ErrConflict) {
			t.Errorf("claim %d: %v, want %q", i, err, want)
		}
	}
}
