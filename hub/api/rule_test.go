package api

import (
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
)

// Each rule is of a route, and each route has one. Of a hub-made kind there is no put.
func TestRulesAndRoutes(t *testing.T) {
	mem := storetest.NewMemory()
	newID := func() string { return "01id" }
	s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{Store: s, Rooms: none(), Approver: struct{ Approver }{}, Token: "0123456789abcdef", Clock: time.Now, NewID: newID, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	left := rules()
	for path, item := range a.huma.OpenAPI().Paths {
		for _, op := range []any{item.Get, item.Put, item.Post, item.Delete} {
			id := operationID(op)
			if id == "" {
				continue
			}
			if _, ok := a.rules[id]; !ok {
				t.Errorf("%s (%s) has no rule; until it has one only an admin with every scope may use it", id, path)
			}
			delete(left, id)
		}
	}
	for _, id := range []string{"putAgent", "putBootConfiguration", "putGroupRevision", "putHold"} {
		delete(left, id)
	}
	for id := range left {
		t.Errorf("there is no route %s", id)
	}
}

func operationID(op any) string {
	if o, ok := op.(*huma.Operation); ok && o != nil {
		return o.OperationID
	}
	return ""
}

// none are rooms that are there, and do nothing.
func none() Rooms {
	return Rooms{
		Status: struct{ Status }{}, Claims: struct{ Claims }{}, Imports: struct{ Imports }{}, Firmware: struct{ Firmware }{}, Discovery: struct{ Discovery }{}, Traces: struct{ Traces }{},
		Members: struct{ Members }{}, Inventory: struct{ Inventory }{}, Carried: struct{ Carried }{}, Groups: struct{ Groups }{}, Rollouts: struct{ Rollouts }{}, Events: struct{ EventLog }{},
	}
}
