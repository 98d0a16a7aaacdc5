package guard

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestCollectors: all are registered, or none.
func TestCollectors(t *testing.T) {
	counter := func(name string) prometheus.Collector {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: "Test."})
	}
	r := prometheus.NewPedanticRegistry()
	one, both := Collectors{counter("two_total")}, Collectors{counter("one_total"), counter("two_total")}
	count := func() int {
		t.Helper()
		n, err := testutil.GatherAndCount(r)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if err := one.Register(r); err != nil {
		t.Fatal(err)
	}
	if err := both.Register(r); err == nil || count() != 1 {
		t.Errorf("%v, %d are registered", err, count())
	}
	one.Unregister(r)
	if err := both.Register(r); err != nil || count() != 2 {
		t.Errorf("%v, %d are registered", err, count())
	}
	both.Unregister(r)
	if count() != 0 {
		t.Errorf("%d are left", count())
	}
	both.Unregister(nil)
	if err := both.Register(nil); err != nil {
		t.Error(err)
	}
}
