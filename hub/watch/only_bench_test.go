package watch

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// What a watch of 10,000 servers is told first, what that takes, and what a board keeps of each; of all fields, of some
// with a status and of some without.
func BenchmarkOnly(b *testing.B) {
	const servers = 10_000
	s := newSite(b, func(c *Config) { c.Gather, c.Round = 0, 0; *c = c.withDefaults() })
	s.stop() // what the room looks at by itself is not what is measured
	s.put(b, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"))
	for i := range servers {
		s.put(b, server(fmt.Sprint("n", i), "7"))
	}
	for _, only := range []string{"", "metadata.labels,status.phase", "metadata.name"} {
		b.Run("only="+only, func(b *testing.B) {
			o, err := selector.ParseOnly(only, resource.KindServer)
			if err != nil {
				b.Fatal(err)
			}
			told, kept := 0, 0.0
			for b.Loop() {
				room := New(Config{Store: s.Store, Status: s.phases, Run: "run", Registerer: prometheus.NewRegistry()})
				before := heap()
				w, err := room.Begin(Ask{Kind: resource.KindServer, Who: admin(), Only: o})
				if err != nil {
					b.Fatal(err)
				}
				told = 0
				if !w.begin(&out{ctx: context.Background(), lines: room.metrics.lines, write: func(lines [][]byte) error {
					for _, l := range lines {
						told += len(l)
					}
					return nil
				}}) {
					b.Fatal("it was not told all")
				}
				for _, e := range w.board.entries {
					e.recent = nil // as after some seconds
				}
				kept = float64(heap()-before) / servers
				w.end(whyReader)
				room.stop()
			}
			b.ReportMetric(float64(told)/servers, "B-told/server")
			b.ReportMetric(kept, "B-kept/server")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/servers, "us/server")
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
