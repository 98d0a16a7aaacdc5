package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// What a write takes, and when 200 watches have it, while 500 are written a second; with none or 20 of the readers
// never reading. The store is in memory, so what it says of writes is what watches cost them.
func BenchmarkWatches(b *testing.B) {
	for _, stuck := range []int{0, 20} {
		b.Run(fmt.Sprintf("stuck=%d", stuck), func(b *testing.B) { benchmarkWatches(b, 200, stuck) })
	}
}

func benchmarkWatches(b *testing.B, readers, stuck int) {
	const servers, every = 500, 2 * time.Millisecond
	s := newSite(b, func(c *Config) {
		c.Gather, c.Round, c.MostOfCaller = 0, 0, 1024
		*c = c.withDefaults()
	})
	s.put(b, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"))
	for i := range servers {
		s.put(b, server(fmt.Sprint("n", i), "7"))
	}
	var mu sync.Mutex
	wrote := map[string]time.Time{} // by name and label
	var arrivals []time.Duration
	ctx, cancel := context.WithCancel(context.Background())
	var running, synced sync.WaitGroup
	begin := func(write func([][]byte) error) {
		w, err := s.room.Begin(Ask{Kind: resource.KindServer, Who: admin()})
		if err != nil {
			b.Fatal(err)
		}
		running.Go(func() { w.Run(ctx, write) })
	}
	for i := range readers {
		synced.Add(1)
		in := false
		begin(func(lines [][]byte) error {
			for _, l := range lines {
				if i > 0 {
					if _, err := io.Discard.Write(l); err != nil {
						return err
					}
				}
				if !in && bytes.HasPrefix(l, []byte(`{"type":"synced"`)) {
					in = true
					synced.Done()
				}
				if i%20 != 0 || !in { // each twentieth is looked at: to read JSON would be what is measured
					continue
				}
				var e protoapi.WatchEvent
				var obj resource.Server
				if json.Unmarshal(l, &e) != nil || e.Type != protoapi.WatchPut || json.Unmarshal(e.Object, &obj) != nil {
					continue
				}
				mu.Lock()
				if at, ours := wrote[e.Name+obj.Metadata.Labels["x"]]; ours {
					arrivals = append(arrivals, time.Since(at))
				}
				mu.Unlock()
			}
			return nil
		})
	}
	for range stuck {
		begin(func([][]byte) error {
			<-ctx.Done()
			return ctx.Err()
		})
	}
	synced.Wait()
	var writes []time.Duration
	tick := time.NewTicker(every)
	b.ResetTimer()
	for i := range b.N {
		<-tick.C
		name, x := fmt.Sprint("n", i%servers), fmt.Sprint(i)
		obj, err := store.Get[*resource.Server](s.Objects, name)
		if err != nil {
			b.Fatal(err)
		}
		obj.Metadata.Labels["x"] = x
		began := time.Now()
		mu.Lock()
		wrote[name+x] = began
		mu.Unlock()
		if err := s.Objects.Put(ctx, obj); err != nil {
			b.Fatal(err)
		}
		writes = append(writes, time.Since(began))
	}
	b.StopTimer()
	tick.Stop()
	time.Sleep(time.Second) // what is on its way arrives
	cancel()
	running.Wait()
	p99 := func(all []time.Duration) float64 {
		if len(all) == 0 {
			return 0
		}
		slices.Sort(all)
		return all[len(all)*99/100].Seconds() * 1e3
	}
	b.ReportMetric(p99(writes), "write-p99-ms")
	b.ReportMetric(p99(arrivals), "arrival-p99-ms")
	b.ReportMetric(float64(len(arrivals)), "arrivals")
}
