package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// slowLog is an audit log whose export lasts until its request ends.
type slowLog struct{ api.AuditLog }

func (slowLog) Head() (seq uint64, hash string) { return 1, "" }

func (slowLog) Export(ctx context.Context, _ io.Writer, _ uint64) error {
	<-ctx.Done()
	return ctx.Err()
}

// Two exports run at once, each for as long as it may; a third is refused meanwhile.
func TestAuditExportsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		newID := func() string { return "01id" }
		s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: newID})
		if err != nil {
			t.Fatal(err)
		}
		a, err := api.New(api.Config{
			Store: s, Rooms: apitest.Rooms(&apitest.CannedFleet{}), Token: apitest.Token, Clock: time.Now, NewID: newID, Registerer: prometheus.NewRegistry(),
			AuditLog: slowLog{},
		})
		if err != nil {
			t.Fatal(err)
		}
		ask := func() int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, protoapi.PathAuditExport, http.NoBody)
			r.Header.Set("Authorization", bearer)
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			return w.Code
		}
		began := time.Now()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { ask() })
		}
		synctest.Wait()
		if got := ask(); got != protocol.CodeUnavailable.HTTPStatus() {
			t.Errorf("a third export: %d", got)
		}
		wg.Wait()
		if took := time.Since(began); took != protoapi.AuditWait {
			t.Errorf("they lasted %s", took)
		}
	})
}
