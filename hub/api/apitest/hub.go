package apitest

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	protoapi "rackboot/protocol/api"
	"rackboot/state"
)

// Token is the admin token of a Hub.
const Token = "0123456789abcdef-admin-token"

// ClientToken is the token of the client "ha" of a Hub, which may not break glass.
const ClientToken = "0123456789abcdef0123456789abcdef-ha"

// Now is the time at a Hub; it stands still.
func Now() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }

// Hub is a running API.
type Hub struct {
	URL      string
	CA       []byte // PEM
	Store    *store.Store
	KV       state.KV // what Store stands on
	Fleet    *CannedFleet
	Registry *prometheus.Registry
	NotReady atomic.Bool
}

// New starts a Hub that ends with the test.
func New(t testing.TB) *Hub {
	t.Helper()
	mem := storetest.NewMemory()
	h := &Hub{KV: mem, Fleet: &CannedFleet{}, Registry: prometheus.NewRegistry()}
	var ids atomic.Uint64
	newID := func() string { return fmt.Sprintf("01HUB%05d", ids.Add(1)) }
	var err error
	h.Store, err = store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: Now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	h.Fleet.Store = h.Store
	handler, err := api.New(api.Config{
		Store: h.Store, Fleet: h.Fleet, Token: Token,
		Clients: []api.Client{{Caller: api.Caller{Name: "ha"}, Token: ClientToken}},
		Clock:   Now, NewID: newID, Registerer: h.Registry, Version: "test",
		Ready: func() error {
			if h.NotReady.Load() {
				return fmt.Errorf("starting")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewTLSServer(handler)
	t.Cleanup(srv.Close)
	h.URL = srv.URL
	h.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	return h
}

// Client makes a client of the admin.
func (h *Hub) Client(t testing.TB) *protoapi.Client { return h.ClientOf(t, Token) }

// ClientOf makes a client with a token.
func (h *Hub) ClientOf(t testing.TB, token string) *protoapi.Client {
	t.Helper()
	c, err := protoapi.NewClient(protoapi.Config{BaseURL: h.URL, CA: h.CA, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}
