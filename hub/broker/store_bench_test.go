package broker

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// hubKV is the hub's store on the server within the hub.
func hubKV(t testing.TB) state.KV {
	t.Helper()
	keys, err := pki.Open(filepath.Join(t.TempDir(), "pki"), []string{ownHost})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, keys: keys, store: filepath.Join(t.TempDir(), "store")}
	s.open()
	t.Cleanup(s.broker.Close)
	conn, err := s.broker.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: conn, Name: "KV"})
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// following is a hub's store with its watch.
func following(t testing.TB, kv state.KV) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{KV: kv, Log: storetest.NewMemory(), Clock: time.Now, NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = st.Run(ctx) }) // it returns nil
	t.Cleanup(func() { stop(); running.Wait() })
	return st
}

// racks are n servers, 50 to a rack, whose names begin with prefix.
func racks(prefix string, n int) (set []resource.Object) {
	for i := range n {
		rack, name := fmt.Sprintf("%sr%d", prefix, i/50), fmt.Sprintf("%s%d", prefix, i)
		if i%50 == 0 {
			set = append(set, storetest.Rack(rack), storetest.Segment("boot-"+rack, rack))
		}
		s := storetest.Server(name, "b-"+name, "boot-"+rack, fmt.Sprintf("52:54:%02x:00:%02x:%02x", prefix[0], i/256, i%256))
		s.Spec.UUID = fmt.Sprintf("00000000-0000-0000-00%02x-%012x", prefix[0], i)
		set = append(set, storetest.BMC("b-"+name, rack), s)
	}
	return set
}

func times(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkHoldAccepted places holds on the servers of 20 racks, by so many callers at once.
func BenchmarkHoldAccepted(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			const servers = 1000
			st := following(b, hubKV(b))
			if _, err := st.Sets.Apply(b.Context(), racks("n", servers), store.ApplyOptions{}); err != nil {
				b.Fatal(err)
			}
			var mu sync.Mutex
			var took []time.Duration
			work := make(chan int)
			var running sync.WaitGroup
			b.ResetTimer()
			for range callers {
				running.Go(func() {
					for i := range work {
						h := storetest.Hold("admin", fmt.Sprintf("k%d", i), fmt.Sprintf("n%d", i%servers))
						begun := time.Now()
						if _, err := st.Holds.Create(b.Context(), h); err != nil {
							b.Error(err)
						}
						mu.Lock()
						took = append(took, time.Since(begun))
						mu.Unlock()
					}
				})
			}
			for i := range b.N {
				work <- i
			}
			close(work)
			running.Wait()
			times(b, took)
		})
	}
}

// BenchmarkApplyRacks applies 1,000 servers with their BMCs, which are new.
func BenchmarkApplyRacks(b *testing.B) {
	st := following(b, hubKV(b))
	var took []time.Duration
	for i := range b.N {
		set := racks(string(rune('a'+i)), 1000)
		begun := time.Now()
		if _, err := st.Sets.Apply(b.Context(), set, store.ApplyOptions{}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	times(b, took)
}
