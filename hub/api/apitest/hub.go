package apitest

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/gate"
	"rackboot/hub/audit"
	"rackboot/hub/iso"
	"rackboot/hub/packages"
	"rackboot/hub/secret"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/watch"
	protoapi "rackboot/protocol/api"
	"rackboot/state"
)

// Token is the admin token of a Hub.
const Token = "0123456789abcdef-admin-token"

// ClientToken is the token of the client "ha" of a Hub, which names no roles and may not
// break glass.
const ClientToken = "0123456789abcdef0123456789abcdef-ha"

// TokenOf is the token of another client of a Hub: viewer, operator and fencer have that
// role; row7 has all but the admin's, in the scope row=7. Of each there is a certificate
// too; see [Hub.Certificate].
func TokenOf(name string) string { return "0123456789abcdef0123456789abcdef-" + name }

// Now is the time at a Hub; it stands still.
func Now() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }

// ISOQuota bounds the uploaded files of a Hub in bytes.
const ISOQuota = 64 << 20

// Hub is a running API.
type Hub struct {
	URL      string
	CA       []byte // PEM
	Store    *store.Store
	KV       state.KV // what Store stands on
	Fleet    *CannedFleet
	Mirrors  *CannedMirrors
	Plans    *CannedPlans
	Approver *CannedApprover
	Registry *prometheus.Registry
	NotReady atomic.Bool
	Records  *Records
	ISOs     *iso.Shelf
	// Audit is the audit log that is read; its first entry is that it begins. AuditKey is
	// PEM of the key that signs it, and AuditDir its folder. Requests are in Records.
	Audit    *audit.Log
	Backups  *CannedBackups
	AuditKey []byte
	AuditDir string

	clients    authority
	endWatches func()
	vault      *secret.Vault
	ids        atomic.Uint64
}

// Clients are those of a Hub.
func Clients() []gate.Client {
	out := []gate.Client{{Caller: access.Caller{Name: "ha"}, Token: ClientToken}}
	for _, r := range []access.Role{access.Viewer, access.Operator, access.Fencer} {
		out = append(out, gate.Client{Caller: access.Caller{Name: string(r), Roles: []access.Role{r}}})
	}
	row7 := access.Scope{MatchLabels: map[string]string{"row": "7"}}
	out = append(out, gate.Client{Caller: access.Caller{Name: "row7", Roles: access.DefaultRoles(), Scope: row7}})
	for i := range out[1:] {
		out[i+1].Token, out[i+1].CommonName = TokenOf(out[i+1].Name), out[i+1].Name
	}
	return out
}

// New starts a Hub that ends with the test.
func New(t testing.TB) *Hub {
	t.Helper()
	return NewWith(t, func(*api.Config) {})
}

// NewWith is New with another configuration.
func NewWith(t testing.TB, change func(*api.Config)) *Hub {
	t.Helper()
	h := hub(t)
	h.openAudit(t)
	// The certificate, which is served too, is there once the server runs.
	var handler http.Handler
	var made sync.WaitGroup
	made.Add(1)
	defer made.Done()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		made.Wait()
		handler.ServeHTTP(w, r)
	}))
	pool := x509.NewCertPool()
	pool.AddCert(h.clients.cert)
	srv.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	h.URL = srv.URL
	h.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	a := h.handler(t, change)
	handler = a
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	worked := make(chan struct{})
	go func() { defer close(worked); _ = a.Work(ctx) }() // it has no error
	t.Cleanup(func() { cancel(); <-worked })
	return h
}

// NewHandler makes a Hub without a server, for tests that are its server. There is no URL,
// no Client and no Audit.
func NewHandler(t testing.TB, change func(*api.Config)) (*api.API, *Hub) {
	t.Helper()
	h := hub(t)
	return h.handler(t, change), h
}

func hub(t testing.TB) *Hub {
	t.Helper()
	mem := storetest.NewMemory()
	h := &Hub{KV: mem, Fleet: &CannedFleet{}, Mirrors: &CannedMirrors{}, Plans: &CannedPlans{}, Approver: &CannedApprover{}, Registry: prometheus.NewRegistry(), Records: &Records{}, Backups: &CannedBackups{}, clients: newAuthority(t)}
	h.vault = secret.New(secret.Config{
		Current: &secret.Source{Env: "KEY"}, Getenv: func(string) string { return strings.Repeat("5e", 32) },
		Logger: slog.New(slog.DiscardHandler), Registerer: h.Registry,
	})
	var err error
	h.Store, err = store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: Now, NewID: h.newID, Vault: h.vault})
	if err != nil {
		t.Fatal(err)
	}
	h.vault.Start(t.Context(), h.Store.Secrets, h.Store.Meta)
	h.Fleet.Store, h.Mirrors.Objects, h.Plans.Objects = h.Store, h.Store.Objects, h.Store.Objects
	h.ISOs, err = iso.Open(iso.Config{
		Dir: t.TempDir(), Quota: ISOQuota, Store: h.Store, Needed: h.Fleet.ISODigests, Clock: Now, Registerer: h.Registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.ISOs.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *Hub) newID() string { return fmt.Sprintf("01HUB%05d", h.ids.Add(1)) }

func (h *Hub) handler(t testing.TB, change func(*api.Config)) *api.API {
	t.Helper()
	packs := packages.New(packages.Config{
		Store: h.Store, Shelf: h.ISOs, Keys: []ed25519.PublicKey{Publisher().Public().(ed25519.PublicKey)}, Event: func(context.Context, string) {},
		Clock: Now, Logger: slog.New(slog.DiscardHandler), Registerer: h.Registry,
	})
	rooms := Rooms(h.Fleet)
	rooms.Mirrors, rooms.Plans, rooms.Watches = h.Mirrors, h.Plans, h.watches(t)
	cfg := api.Config{
		Store: h.Store, Rooms: rooms, Approver: h.Approver, Token: Token, Callers: gate.Callers{Clients: Clients(), Authorities: []*x509.Certificate{h.clients.cert}}, Authority: h.CA,
		Recorder: h.Records, Backups: h.Backups, Webhooks: &CannedWebhooks{}, ISOs: h.ISOs, AgentPackages: packs, Vault: h.vault, Clock: Now, NewID: h.newID, Registerer: h.Registry, Version: "devel",
		Ready: func(context.Context) error {
			if h.NotReady.Load() {
				return fmt.Errorf("starting")
			}
			return nil
		},
	}
	if h.Audit != nil {
		cfg.AuditLog = h.Audit
	}
	change(&cfg)
	a, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// watches makes the room of watches, which works until the test ends. It goes round quickly: nobody tells it of what
// tests put into the fleet.
func (h *Hub) watches(t testing.TB) *watch.Room {
	t.Helper()
	room := watch.New(watch.Config{
		Store: h.Store, Status: h.Fleet, Run: "test", Registerer: h.Registry, Gather: 10 * time.Millisecond, Round: 20 * time.Millisecond,
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- room.Run(ctx) }()
	h.endWatches = func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		ended <- nil
	}
	t.Cleanup(h.endWatches)
	return room
}

// EndWatches ends all watches, as a hub does that stops.
func (h *Hub) EndWatches() { h.endWatches() }

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
