package agent

import (
	"runtime"
	"testing"
	"time"

	"rackboot/agent/files"
	"rackboot/state/blob"
)

// BenchmarkAtRest is what one read of a server costs an agent of 16 that are at rest, from the
// timer to the report, and what each server costs in memory. The BMCs are another process.
func BenchmarkAtRest(b *testing.B) {
	const n, poll = 16, 200 * time.Millisecond
	r := newBenchRack(b, n, "DellStream", poll, func(*blob.Store) files.Puller { return noImages{} })
	r.known()
	time.Sleep(3 * poll) // what comes after a board
	b.ResetTimer()
	was, from := processor(), r.calls("observe")
	var m, old runtime.MemStats
	runtime.ReadMemStats(&old)
	for r.calls("observe")-from < float64(b.N) {
		time.Sleep(time.Second)
	}
	took, did := processor()-was, r.calls("observe")-from
	runtime.ReadMemStats(&m)
	b.StopTimer()
	b.ReportMetric(float64(took.Microseconds())/did, "cpu-µs/read")
	b.ReportMetric(float64(m.TotalAlloc-old.TotalAlloc)/1024/did, "alloc-KiB/read")
	b.ReportMetric(float64(m.Mallocs-old.Mallocs)/did, "allocs/read")
	b.ReportMetric(float64(inUse()-r.inUse)/1024/n, "KiB/server")
	b.ReportMetric(float64(runtime.NumGoroutine())/n, "goroutines/server")
}
