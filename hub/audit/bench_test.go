package audit

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"rackboot/protocol/auditlog"
)

// BenchmarkAppend is what an entry costs on this disk, with 1 and with 100 callers at
// once, who share fsyncs.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 100} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			l := open(b, testConfig(b.TempDir()))
			next := make(chan struct{})
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for range next {
						if _, err := l.Append(context.Background(), asked("Server/n1")); err != nil {
							b.Error(err)
						}
					}
				})
			}
			b.ResetTimer()
			for b.Loop() {
				next <- struct{}{}
			}
			close(next)
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkVerify is what it costs to check 10,000 entries.
func BenchmarkVerify(b *testing.B) {
	l := open(b, testConfig(b.TempDir()))
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 100 {
				if _, err := l.Append(context.Background(), asked("Server/n1")); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var out bytes.Buffer
	if err := l.Export(b.Context(), &out, 0); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	for b.Loop() {
		if _, err := auditlog.Verify(bytes.NewReader(out.Bytes()), l.keys, nil); err != nil {
			b.Fatal(err)
		}
	}
}
