package badger_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rackboot/state"
	"rackboot/state/badger"
)

// benchWriters writes b.N keys of 128 bytes, about a lease, from n goroutines.
func benchWriters(b *testing.B, n int, write func(*badger.Store, func(state.Txn) error) error) {
	s := open(b, badger.Config{Dir: b.TempDir()})
	value := make([]byte, 128)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range n {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				key := "lease/" + strconv.FormatInt(i%10_000, 10)
				if err := write(s, func(tx state.Txn) error { return tx.Set(key, value) }); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

func BenchmarkStoreUpdate(b *testing.B) {
	for _, n := range []int{1, 32} {
		b.Run(fmt.Sprintf("writers=%d", n), func(b *testing.B) {
			benchWriters(b, n, (*badger.Store).Update)
		})
	}
}

func BenchmarkStoreBatch(b *testing.B) {
	for _, n := range []int{1, 32, 256} {
		b.Run(fmt.Sprintf("writers=%d", n), func(b *testing.B) {
			benchWriters(b, n, func(s *badger.Store, fn func(state.Txn) error) error {
				return s.Batch(b.Context(), fn)
			})
		})
	}
}

// TestIdleMemory logs the memory of this process with an idle store that holds
// 20,000 entries; it is one part of the agent's 64 MiB.
func TestIdleMemory(t *testing.T) {
	dir := t.TempDir()
	log := func(when string) {
		debug.FreeOSMemory() // an idle process gets there by itself, later
		t.Logf("%-20s %s", when, resident(t))
	}
	log("before")
	s := open(t, badger.Config{Dir: dir})
	log("empty store")
	for n := range 200 {
		err := s.Update(func(tx state.Txn) error {
			for i := range 100 {
				if err := tx.Set(fmt.Sprintf("k/%d/%d", n, i), make([]byte, 500)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	log("after 10 MB written")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log("closed")
	open(t, badger.Config{Dir: dir})
	log("reopened")
}

// resident is this process's resident set, of which RssFile is mapped files
// that the kernel takes back when memory is short (proc(5)).
func resident(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && (f[0] == "VmRSS:" || strings.HasPrefix(f[0], "Rss")) {
			out = append(out, strings.Join(f, " "))
		}
	}
	if len(out) == 0 {
		t.Error("no resident set in /proc/self/status")
	}
	return strings.Join(out, ", ")
}
