package brokers

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Two hubs write the store of three servers, which refuse writes of a key that a commit under way checks: all
// holds are on one server, whose status is written meanwhile, and both hubs apply the same sets. Nobody is told of
// a conflict, and no two servers have one address.
func TestTwoHubsOnThreeServers(t *testing.T) {
	const callers, times = 16, 6
	c := startCluster(t)
	kv := c.open()
	ctx, stop := context.WithCancel(t.Context())
	var running, working sync.WaitGroup
	defer running.Wait()
	defer stop()
	open := func() (s *store.Store) {
		c.await("the store is opened", func() (err error) {
			s, err = store.Open(ctx, store.Config{KV: kv, Log: storetest.NewMemory(), Clock: time.Now, NewID: rand.Text})
			return err
		})
		return s
	}
	var hubs []*store.Store
	for range 2 {
		s := open()
		running.Go(func() { _ = s.Run(ctx) }) // it returns nil
		hubs = append(hubs, s)
		if _, err := s.Sets.Apply(ctx, storetest.Site(), store.ApplyOptions{}); err != nil { // the second finds it there
			t.Fatal(err)
		}
	}
	for c := range callers {
		s := hubs[c%len(hubs)]
		working.Go(func() {
			for i := range times {
				if _, err := s.Holds.Create(ctx, storetest.Hold("admin", fmt.Sprintf("k%d", i), "n1")); err != nil {
					t.Errorf("hold: %v", err)
				}
				switch {
				case c < 2: // as a turn does
					n, err := store.Get[*resource.Server](s.Objects, "n1")
					if err != nil {
						t.Error(err)
						continue
					}
					n.Status.AcceptedIdentity = fmt.Sprintf("%d-%d", c, i)
					if err := s.Objects.Put(ctx, n); err != nil && protocol.CodeOf(err) != protocol.CodeConflict { // the other hub's
						t.Errorf("status: %v", err)
					}
				case c < 8:
					set := storetest.Site()[4:]
					set[0].Head().Metadata.Labels = map[string]string{"by": fmt.Sprintf("%d-%d", c, i)}
					if _, err := s.Sets.Apply(ctx, set, store.ApplyOptions{}); err != nil {
						t.Errorf("apply: %v", err)
					}
				}
			}
		})
	}
	working.Wait()

	for n, s := range hubs {
		working.Go(func() {
			_, err := s.Sets.Apply(ctx, []resource.Object{storetest.BMC(fmt.Sprintf("b%d", 7+n), "r1"), storetest.Server(fmt.Sprintf("n%d", 7+n), fmt.Sprintf("b%d", 7+n), "boot", "52:54:00:00:00:77")}, store.ApplyOptions{})
			if code := protocol.CodeOf(err); code != "" && code != protocol.CodeInvalid {
				t.Errorf("one of two with one address: %v", err)
			}
		})
	}
	working.Wait()
	again := open()
	if won := len(store.Find(again.Objects, store.ServersByMAC, "52:54:00:00:00:77")); won != 1 {
		t.Errorf("%d servers have one address", won)
	}
	if n := len(again.Holds.On("n1")); n != times {
		t.Errorf("%d holds, want %d", n, times)
	}
}
