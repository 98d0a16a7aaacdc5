package server

import (
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol/decide"
)

// TestUnnotedStops: a stop that took room of the bound on bulk stops takes it also from the
// steps of other servers that are recorded, until it is itself.
func TestUnnotedStops(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var unnoted unnoted
	bound := BulkStop{Guarded: true, Most: 2, Window: time.Minute}
	others := func(server string) int {
		return unnoted.bulk(bound, store.View{Record: decide.Record{Server: server}}, now).Others
	}
	unnoted.note("n1", now)
	unnoted.note("n2", now.Add(-time.Hour)) // out of the window
	unnoted.note("n3", now.Add(30*time.Second))
	if n1, n4 := others("n1"), others("n4"); n1 != 1 || n4 != 2 {
		t.Errorf("beside n1 %d, beside n4 %d", n1, n4)
	}
	unnoted.drop("n1")
	if n4 := others("n4"); n4 != 1 {
		t.Errorf("after n1 was recorded: %d", n4)
	}
}
