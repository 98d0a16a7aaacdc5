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

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// stuckFleet answers Trace and After when the test lets it.
type stuckFleet struct {
	apitest.CannedFleet
	let chan struct{}
}

func (f *stuckFleet) Trace(context.Context, string, int) (resource.Trace, error) {
	<-f.let
	return resource.Trace{}, nil
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
	a, err := api.New(api.Config{Store: s, Rooms: apitest.Rooms(fleet), Token: apitest.Token, Callers: gate.Callers{Clients: apitest.Clients()}, Clock: time.Now, NewID: newID, Registerer: reg})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// askAs asks as a client, and tells the writer what it gets.
func askAs(t *testing.T, a *api.API, client, path string, w http.ResponseWriter) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	r.Header.Set("Authorization", tokenOf(client))
	a.ServeHTTP(w, r)
}

// Of the requests that are answered at once one caller has half; those of others find a place, until there is
// none left for anybody.
func TestTooManyRequestsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet := &stuckFleet{let: make(chan struct{})}
		reg := prometheus.NewRegistry()
		a := newAPI(t, fleet, reg)
		ask := func(client string) int {
			w := httptest.NewRecorder()
			askAs(t, a, client, protoapi.PathKind(resource.KindServer)+"/n1/trace", w)
			return w.Code
		}
		var open sync.WaitGroup
		stuck := func(client string, n int) {
			for range n {
				open.Go(func() {
					if code := ask(client); code != 200 {
						t.Errorf("status %d", code)
					}
				})
			}
			synctest.Wait()
		}
		for _, tt := range []struct {
			client string
			places int
		}{{"viewer", 128}, {"operator", 64}, {"fencer", 32}} {
			stuck(tt.client, tt.places)
			if code := ask(tt.client); code != 429 {
				t.Errorf("status %d of one too many of %s", code, tt.client)
			}
		}
		if n := metric(t, reg, "rackboot_hub_api_limited_total", "share"); n != 3 {
			t.Errorf("%v are counted", n)
		}
		close(fleet.let)
		open.Wait()
		if code := ask("viewer"); code != 200 {
			t.Errorf("status %d afterwards", code)
		}
	})
}

// slowReader takes nothing of an answer until the test lets it.
type slowReader struct {
	*httptest.ResponseRecorder
	let chan struct{}
}

func (w slowReader) Write(b []byte) (int, error) {
	<-w.let
	return w.ResponseRecorder.Write(b)
}

// However much one caller lists at once, another's list is the next; and nobody waits for whoever reads slowly.
func TestListsComeInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet := &stuckFleet{let: make(chan struct{})}
		reg := prometheus.NewRegistry()
		a := newAPI(t, fleet, reg)
		var open sync.WaitGroup
		var codes []int
		greedy := func() {
			open.Go(func() {
				w := httptest.NewRecorder()
				askAs(t, a, "viewer", protoapi.PathEvents, w)
				if w.Code != 200 {
					codes = append(codes, w.Code)
				}
			})
			synctest.Wait()
		}
		for range 60 {
			greedy()
		}
		if len(codes) == 0 || codes[0] != 429 {
			t.Fatalf("the line has no end: %v", codes)
		}
		if n := gauge(t, reg, "rackboot_hub_api_waiting"); n != 32 {
			t.Errorf("%v wait", n)
		}
		// A reader that takes nothing has a list of another caller, which has no turn any more.
		let := make(chan struct{})
		for range 20 {
			open.Go(func() {
				askAs(t, a, "operator", protoapi.PathKind(resource.KindServer), slowReader{httptest.NewRecorder(), let})
			})
			synctest.Wait()
		}
		w := httptest.NewRecorder()
		askAs(t, a, "fencer", protoapi.PathKind(resource.KindServer), w) // without another goroutine it comes at once
		if w.Code != 200 {
			t.Errorf("status %d", w.Code)
		}
		close(let)
		close(fleet.let)
		open.Wait()
		if n := gauge(t, reg, "rackboot_hub_api_waiting"); n != 0 {
			t.Errorf("%v wait at the end", n)
		}
	})
}

func gauge(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no %s", name)
	return 0
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
