package api_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// stuckFleet answers After when the test lets it.
type stuckFleet struct {
	apitest.CannedFleet
	let chan struct{}
}

func (f *stuckFleet) After(uint64, int) []protoapi.EventRecord {
	<-f.let
	return nil
}

func newAPI(t *testing.T, fleet apitest.Fleet, reg *prometheus.Registry) *api.API {
	t.Helper()
	mem := storetest.NewMemory()
	newID := func() string { return "01id" }
	s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Config{Store: s, Rooms: apitest.Rooms(fleet), Token: apitest.Token, Clock: time.Now, NewID: newID, Registerer: reg})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTooManyRequestsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet := &stuckFleet{let: make(chan struct{})}
		reg := prometheus.NewRegistry()
		a := newAPI(t, fleet, reg)
		ask := func() int {
			r := httptest.NewRequestWithContext(t.Context(), "GET", protoapi.PathEvents, http.NoBody)
			r.Header.Set("Authorization", bearer)
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			return w.Code
		}
		var open sync.WaitGroup
		for range 256 {
			open.Go(func() {
				if code := ask(); code != 200 {
					t.Errorf("status %d", code)
				}
			})
		}
		synctest.Wait()
		if code := ask(); code != 503 {
			t.Errorf("status %d of one too many", code)
		}
		close(fleet.let)
		open.Wait()
		if code := ask(); code != 200 {
			t.Errorf("status %d afterwards", code)
		}
		if n, err := testutil.GatherAndCount(reg, "rackboot_hub_api_overload_total"); err != nil || n != 1 {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestServe(t *testing.T) {
	a := newAPI(t, &apitest.CannedFleet{}, prometheus.NewRegistry())
	listen := func() net.Listener {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return ln
	}
	if err := a.Serve(t.Context(), listen(), nil); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Fatalf("without TLS: %v", err)
	}
	certified := httptest.NewUnstartedServer(http.NotFoundHandler())
	certified.StartTLS()
	defer certified.Close()
	ln := listen()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- a.Serve(ctx, ln, &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS13})
	}()
	tr := certified.Client().Transport.(*http.Transport).Clone()
	c, err := protoapi.NewClient(protoapi.Config{BaseURL: "https://" + ln.Addr().String(), HTTPClient: &http.Client{Transport: tr}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	if err := c.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatalf("end: %v", err)
	}
}
