package store

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
)

// Sixteen callers apply sets that overlap, and place holds of which all are on one server, again and
// again: at one hub, and at two. Nobody is told of a conflict: who has lost tries again,
// and does not lose for ever.
func TestNobodyStarves(t *testing.T) {
	for _, hubs := range []int{1, 2} {
		t.Run(fmt.Sprintf("hubs=%d", hubs), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const callers, times = 16, 25
				kv := &twoHubs{Memory: storetest.NewMemory(), t: t, rand: mathrand.New(mathrand.NewPCG(1, 1))}
				ctx, stop := context.WithCancel(t.Context())
				var running, working sync.WaitGroup
				var stores []*Store
				for range hubs {
					s, err := Open(ctx, Config{KV: kv, Log: kv, Clock: time.Now, NewID: rand.Text})
					if err != nil {
						t.Fatal(err)
					}
					running.Go(func() { _ = s.Run(ctx) }) // it returns nil
					stores = append(stores, s)
				}
				apply(t, stores[0], storetest.Site()...)
				time.Sleep(time.Second) // until the others have heard of it
				for c := range callers {
					s := stores[c%hubs]
					working.Go(func() {
						for i := range times {
							set := storetest.Site()[c%3:]
							for _, obj := range set {
								obj.Head().Metadata.Labels = map[string]string{"by": fmt.Sprintf("%d-%d", c, i)}
							}
							if _, err := s.Sets.Apply(ctx, set, ApplyOptions{By: "admin"}); err != nil {
								t.Errorf("apply: %v", err)
							}
							_, err := s.Holds.Create(ctx, storetest.Hold("admin", fmt.Sprintf("k%d", i), "n1"))
							if err != nil {
								t.Errorf("hold: %v", err)
							}
						}
					})
				}
				working.Wait()
				if n := len(stores[0].Holds.On("n1")); n != times {
					t.Errorf("%d holds, want %d", n, times)
				}
				t.Logf("%d commits were lost of %d", kv.lost, kv.lost+callers*times)
				stop()
				running.Wait()
			})
		})
	}
}
