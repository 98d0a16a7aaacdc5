package firmware

import (
	"context"
	"crypto/rand"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// No mark is there as far as a hub knows that hears nothing of the others: it does not say that there is none to end.
func TestWhatIsMarkedIsInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := storetest.NewDeaf()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s, err := store.Open(ctx, store.Config{KV: k, Log: k.Memory, Clock: time.Now, NewID: rand.Text})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = s.Run(ctx) }() // it returns nil
		if _, err := s.Sets.Apply(ctx, storetest.Site(), store.ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		r := New(Config{Objects: s.Objects, Clock: time.Now})
		if _, err := r.Mark(ctx, "n1", api.FirmwareRequest{}, "ann"); err != nil {
			t.Fatal(err)
		}
		s.Units.Share()
		if _, err := r.Mark(ctx, "n1", api.FirmwareRequest{}, "ann"); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("%v", err)
		}
	})
}
