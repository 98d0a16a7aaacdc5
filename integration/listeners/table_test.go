package listeners

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/local"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/registry"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/integration/memnet"
	"rackboot/internal/metrics"
	"rackboot/netboot"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// listener is something that is served over connections.
type listener struct {
	name string
	tls  bool
	post string // a path that takes a body
	most int    // connections from one address
	run  func(ctx context.Context, t *testing.T, on net.Listener) (wait func() error)
}

// Every TCP or Unix listener of both daemons but the broker's. BMCs send their events to
// the agent's HTTP server.
var all = []listener{
	{"hub API", true, protoapi.PathJoin, 1024, runAPI},
	{"hub's registry", true, "/v2/os/blobs/uploads/?digest=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 64, runRegistry},
	{"metrics", false, "/metrics", 16, runMetrics},
	{"agent's socket", false, "/v1/servers/n1/holds", 32, runSocket},
	{"agent's HTTP", false, "/b/t/report/installed", 64, runHTTP(nil)},
	{"agent's HTTPS", true, "/b/t/report/installed", 64, runHTTP(certificates{})},
	{"BMC's webhook", false, netboot.EventPrefix + "t", 64, runHTTP(nil)},
}

// serve runs the listener until the test ends.
func (l listener) serve(t *testing.T) *watched {
	t.Helper()
	on := &watched{Listener: memnet.Listen(l.name)}
	ctx, cancel := context.WithCancel(context.Background())
	wait := l.run(ctx, t, on)
	t.Cleanup(func() {
		cancel()
		if err := wait(); err != nil {
			t.Error(err)
		}
	})
	return on
}

func runAPI(ctx context.Context, t *testing.T, on net.Listener) func() error {
	mem, newID := storetest.NewMemory(), func() string { return "01id" }
	s, err := store.Open(ctx, store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	fleet := &apitest.CannedFleet{}
	a, err := api.New(api.Config{
		Store: s, Rooms: apitest.Rooms(fleet), Token: apitest.Token, Clock: time.Now, NewID: newID, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return begin(func() error {
		return a.Serve(ctx, on, &tls.Config{Certificates: []tls.Certificate{*certificates{}.Certificate(netboot.KeyECDSA)}, MinVersion: tls.VersionTLS13})
	})
}

// runRegistry is the hub's registry, which takes bodies from whoever may push.
func runRegistry(ctx context.Context, t *testing.T, on net.Listener) func() error {
	r, err := registry.Open(registry.Config{
		Dir: t.TempDir(), Quota: 1 << 20, Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
		Right: func(*http.Request) (registry.Caller, registry.Right) {
			return registry.Caller{Name: "somebody"}, registry.Push
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	wait := begin(func() error {
		return r.Serve(ctx, on, &tls.Config{Certificates: []tls.Certificate{*certificates{}.Certificate(netboot.KeyECDSA)}, MinVersion: tls.VersionTLS13})
	})
	return func() error { return errors.Join(wait(), r.Close()) }
}

func runMetrics(ctx context.Context, _ *testing.T, on net.Listener) func() error {
	return begin(func() error {
		return metrics.ServeOn(ctx, on, prometheus.NewRegistry(), func(context.Context) error { return nil }, slog.New(slog.DiscardHandler))
	})
}

// runSocket is the agent's own API, which knows nobody who does not come by a Unix
// socket and says so to each.
func runSocket(ctx context.Context, _ *testing.T, on net.Listener) func() error {
	a := local.New(local.Config{Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	return begin(func() error { return a.Run(ctx, on) })
}

func runHTTP(certs netboot.Certificates) func(context.Context, *testing.T, net.Listener) func() error {
	return func(ctx context.Context, t *testing.T, on net.Listener) func() error {
		s, err := httpboot.New(httpboot.Config{
			Listener: on, Files: nothing{}, Evidence: nothing{}, Certificates: certs,
			Events: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = r.Body.Read(make([]byte, 99)) }),
		})
		if err != nil {
			t.Fatal(err)
		}
		return begin(func() error { return s.Run(ctx) })
	}
}

func begin(run func() error) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- run() }()
	return func() error { return <-done }
}

// nothing has no files.
type nothing struct{}

func (nothing) Open(netip.Addr, string, string) (*netboot.File, error) {
	return nil, protocol.Errorf(protocol.CodeNotFound, "open", "nothing")
}

func (nothing) Report(context.Context, netip.Addr, string, protocol.ProbeReport) error { return nil }

func (nothing) Record(netboot.Event) {}

// certificates has one that nobody trusts.
type certificates struct{}

// Certificate implements netboot.Certificates.
func (certificates) Certificate(netboot.KeyKind) *tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// watched counts the connections that the server has not closed.
type watched struct {
	*memnet.Listener
	open atomic.Int32
}

// Accept implements net.Listener.
func (w *watched) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w.open.Add(1)
	return &accepted{Conn: c, left: sync.OnceFunc(func() { w.open.Add(-1) })}, nil
}

type accepted struct {
	net.Conn
	left func()
}

// Close implements net.Conn.
func (a *accepted) Close() error {
	defer a.left()
	return a.Conn.Close()
}
