package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// While nothing may be changed, every change is refused with what to do, and
// everything can still be read.
func TestNotWritable(t *testing.T) {
	mem := storetest.NewMemory()
	newID := func() string { return "01id" }
	s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	var fenced error
	a, err := api.New(api.Config{
		Store: s, Rooms: apitest.Rooms(&apitest.CannedFleet{}), Token: apitest.Token, Clock: time.Now, NewID: newID, Registerer: prometheus.NewRegistry(),
		Writable: func() error { return fenced },
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}"))
		r.Header.Set("Authorization", bearer)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	changes := []struct{ method, path string }{
		{http.MethodPost, protoapi.PathApply},
		{http.MethodPost, protoapi.PathHolds("n1")},
		{http.MethodPost, protoapi.PathServerRequests("n1")},
		{http.MethodPost, protoapi.PathRelease("h")},
		{http.MethodDelete, protoapi.PathObject(resource.KindClaim, "c1")},
		{http.MethodPost, protoapi.PathJoin},
	}
	for _, c := range changes {
		if code, body := ask(c.method, c.path); code == http.StatusServiceUnavailable {
			t.Errorf("%s %s: %d %s while it may be changed", c.method, c.path, code, body)
		}
	}
	fenced = protocol.Errorf(protocol.CodeUnavailable, "change", "another hub took over").WithHint("stop one of the two")
	for _, c := range changes {
		if code, body := ask(c.method, c.path); code != http.StatusServiceUnavailable || !strings.Contains(body, "stop one of the two") {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, body)
		}
	}
	for _, path := range []string{protoapi.PathKind(resource.KindServer), protoapi.PathEvents, protoapi.PathHealth} {
		if code, body := ask(http.MethodGet, path); code != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
	}
}
