package jetstream_test

import (
	"fmt"
	"testing"
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
