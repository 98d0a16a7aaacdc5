package store

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Background work gives way to who hurries, with each of its writes and for a moment only; nobody
// else does.
func TestHaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := storetest.NewMemory()
		s, err := Open(t.Context(), Config{KV: kv, Log: kv, Clock: time.Now, NewID: func() string { return "id" }})
		if err != nil {
			t.Fatal(err)
		}
		writes := map[string]func(ctx context.Context, n string) error{
			"one key": func(ctx context.Context, n string) error { return s.Meta.Put(ctx, "one-"+n, nil, 0) },
			"a commit": func(ctx context.Context, n string) error {
				_, err := s.core.commit(ctx, []state.Op{write("meta.a-"+n, nil, 0), write("meta.b-"+n, nil, 0)})
				return err
			},
			"a record": func(ctx context.Context, n string) error {
				_, err := s.Log.Append(ctx, "event", []byte("{}"), n)
				return err
			},
			"a set": func(ctx context.Context, n string) error {
				_, err := s.Sets.Apply(ctx, []resource.Object{storetest.Rack("r" + n)}, ApplyOptions{By: "admin"})
				return err
			},
		}
		all := time.Duration(0)
		for name, do := range writes {
			took := func(ctx context.Context, n string) time.Duration {
				begun := time.Now()
				if err := do(ctx, n); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				all += time.Since(begun)
				return time.Since(begun)
			}
			if got := took(Patient(t.Context()), "1"); got != 0 {
				t.Errorf("%s waits %s for nobody", name, got)
			}
			first, second := s.Haste.Hurry(), s.Haste.Hurry()
			if got, want := took(t.Context(), "2"), time.Duration(0); name != "a set" && got != want {
				t.Errorf("%s, which is not in the background, waits %s", name, got)
			}
			if got := took(Prompt(Patient(t.Context())), "5"); name != "a set" && got != 0 {
				t.Errorf("a prompt part of it, %s, waits %s", name, got)
			}
			if got := took(Patient(t.Context()), "3"); got != giveWayMax {
				t.Errorf("%s waits %s, want %s", name, got, giveWayMax)
			}
			first()
			first()
			time.AfterFunc(giveWayMax/2, second)
			if got := took(Patient(t.Context()), "4"); got != giveWayMax/2 {
				t.Errorf("%s waits %s after the last one has done, want %s", name, got, giveWayMax/2)
			}
		}
		if got := testutil.ToFloat64(s.Haste); got != all.Seconds() {
			t.Errorf("%g s are counted of %s", got, all)
		}
	})
}
