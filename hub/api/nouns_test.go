package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api/gate"
	"rackboot/hub/api/route"
	"rackboot/hub/bulk"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	protoapi "rackboot/protocol/api"
)

// Each rule is of a route, and each route has one.
func TestRulesAndRoutes(t *testing.T) {
	mem := storetest.NewMemory()
	newID := func() string { return "01id" }
	s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	table := route.NewTable("devel")
	fill(table, Config{Store: s, Rooms: none(), Approver: struct{ Approver }{}, Clock: time.Now, NewID: newID, Registerer: prometheus.NewRegistry()}, &gate.Gate{}, &bulk.Room{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, protoapi.PathOpenAPI, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	table.ServeHTTP(w, r)
	var document struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	left := table.Rules()
	for path, item := range document.Paths {
		for _, op := range item {
			if left[op.OperationID] == (route.Rule{}) {
				t.Errorf("%s (%s) has no rule; until it has one only an admin with every scope may use it", op.OperationID, path)
			}
			delete(left, op.OperationID)
		}
	}
	for id := range left {
		t.Errorf("there is no route %s", id)
	}
	if len(document.Paths) < 50 {
		t.Errorf("there are %d paths", len(document.Paths))
	}
}

// none are rooms that are there, and do nothing.
func none() Rooms {
	type known = Hubs // a field of that name would hide the method
	return Rooms{
		Status: struct{ Status }{}, Claims: struct{ Claims }{}, Imports: struct{ Imports }{}, Firmware: struct{ Firmware }{}, Plans: struct{ FirmwarePlans }{}, Discovery: struct{ Discovery }{}, Traces: struct{ Traces }{}, Mirrors: struct{ Mirrors }{},
		Members: struct{ Members }{}, Inventory: struct{ Inventory }{}, Carried: struct{ Carried }{}, Groups: struct{ Groups }{}, Rollouts: struct{ Rollouts }{}, Upgrades: struct{ Upgrades }{}, Events: struct{ EventLog }{}, Hubs: struct{ known }{},
	}
}
