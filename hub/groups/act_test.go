package groups

import (
	"context"
	"crypto/rand"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// A group is pinned as far as a hub knows that hears nothing of the others: it does not say that it is.
func TestWhatIsPinnedIsInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := storetest.NewDeaf()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s, err := store.Open(ctx, store.Config{KV: k, Log: k.Memory, Clock: time.Now, NewID: rand.Text})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = s.Run(ctx) }() // it returns nil
		g := &resource.ServerGroup{
			Spec:   resource.ServerGroupSpec{Catalogue: "stable", Selector: resource.Selector{MatchLabels: map[string]string{"row": "7"}}},
			Status: resource.ServerGroupStatus{Revision: 1, Pinned: &resource.GroupPin{Revision: 1}},
		}
		g.Metadata.Name = "workers"
		g.Default()
		if err := s.Objects.Put(ctx, g); err != nil {
			t.Fatal(err)
		}
		r := New(Config{Objects: s.Objects, Clock: time.Now, Wake: wake.New(wake.Config{Store: s})})
		if out, err := r.ActOnGroup(ctx, "workers", api.GroupPin, api.GroupRequest{Reason: "x"}, "ann"); err != nil || !out.Unchanged {
			t.Fatalf("%+v, %v", out, err)
		}
		s.Units.Share()
		began := time.Now()
		out, err := r.ActOnGroup(ctx, "workers", api.GroupPin, api.GroupRequest{Reason: "x"}, "ann")
		if protocol.CodeOf(err) != protocol.CodeUnavailable || out.Unchanged || time.Since(began) < time.Second {
			t.Errorf("after %s: %+v, %v", time.Since(began), out, err)
		}
	})
}
