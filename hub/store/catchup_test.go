package store

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// A hub that was away while a deletion was forgotten lists again: what was deleted is not there, what was
// written meanwhile is, and what this hub deletes itself while it lists does not come back.
func TestDeletionForgottenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		one := open(t, mem)
		apply(t, one, storetest.Rack("gone"), storetest.Rack("stays"), storetest.Rack("again"))
		two := open(t, mem)
		for _, name := range []string{"gone", "again"} {
			if _, err := one.Delete(t.Context(), resource.KindRack, name); err != nil {
				t.Fatal(err)
			}
		}
		apply(t, one, storetest.Rack("again"), storetest.Rack("new"))
		if n, err := mem.Forget(t.Context(), time.Now().Add(time.Hour)); n != 1 || err != nil {
			t.Fatalf("%d keys were forgotten, %v", n, err)
		}
		if err := two.Objects.Remove(t.Context(), must(Get[*resource.Rack](two.Objects, "stays"))); err != nil {
			t.Fatal(err)
		}
		if n := len(List[*resource.Rack](two.Objects)); n != 2 {
			t.Errorf("%d racks before it follows", n)
		}
		changed, unsubscribe := two.Subscribe()
		defer unsubscribe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- two.Run(ctx) }()
		synctest.Wait()
		select {
		case <-changed:
		default:
			t.Error("no wake-up")
		}
		wants(t, two, "again", "new")
		apply(t, one, storetest.Rack("later"))
		synctest.Wait()
		wants(t, two, "again", "later", "new")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A store that was set back under a running hub is not taken for what is.
func TestStoreSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		two := open(t, mem)
		apply(t, two, storetest.Rack("a"))
		two.core.mirror.seen(100)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- two.Run(ctx) }()
		time.Sleep(3 * rewatchAfter)
		wants(t, two, "a")
		if two.core.mirror.position() != 100 {
			t.Errorf("it follows from %d", two.core.mirror.position())
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func wants(t *testing.T, s *Store, names ...string) {
	t.Helper()
	got := List[*resource.Rack](s.Objects)
	for i, r := range got {
		if i >= len(names) || r.Metadata.Name != names[i] {
			t.Errorf("%s is there, want %q", r.Metadata.Name, names)
		}
	}
	if len(got) != len(names) {
		t.Errorf("%d racks, want %q", len(got), names)
	}
}
