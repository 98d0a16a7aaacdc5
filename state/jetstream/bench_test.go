package jetstream_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/state"
)

// BenchmarkKVPut creates keys of 1 KiB on an embedded server that syncs every
// write.
func BenchmarkKVPut(b *testing.B) {
	for _, writers := range []int{1, 32} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			kv := testKV(b, b.TempDir())
			value := make([]byte, 1024)
			work := make(chan int)
			done := make(chan error, writers)
			b.ResetTimer()
			for range writers {
				go func() {
					var err error
					for i := range work {
						if _, putErr := kv.Create(b.Context(), fmt.Sprintf("k%d", i), value); putErr != nil {
							err = putErr
						}
					}
					done <- err
				}()
			}
			for i := range b.N {
				work <- i
			}
			close(work)
			for range writers {
				if err := <-done; err != nil {
					b.Error(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

// BenchmarkCommit updates keys of 700 bytes, one commit after the other, on an embedded server that
// syncs every write.
func BenchmarkCommit(b *testing.B) {
	for _, keys := range []int{1, 2, 3, 10} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			kv := testKV(b, b.TempDir())
			ops := make([]state.Op, keys)
			for i := range ops {
				ops[i] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("k%d", i), Value: make([]byte, 700)}
			}
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				revs, err := kv.Commit(b.Context(), ops)
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
				for i := range ops {
					ops[i].Kind, ops[i].Revision = state.OpUpdate, revs[i]
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
