package fleet

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/integration/parallel"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { parallel.Main(m) }

// site is a hub in this process, with an image to claim servers for.
type site struct {
	t      *testing.T
	config Config
	hub    hubdaemon.Config
	stop   func() // the hub

	mu    sync.Mutex
	conns map[string]net.Conn // the latest of each rack
}

const within = 60 * time.Second

// newSite starts a hub. Everything that agents do is quick.
func newSite(t *testing.T, racks, servers int) *site {
	t.Helper()
	dir := t.TempDir()
	at, err := sim.FreeAddresses("127.0.0.1", 2)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := sim.StartRegistry("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = registry.Close() })
	image, err := registry.Push("os:1", sim.UKI([]byte("no kernel")))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, conns: map[string]net.Conn{}, hub: hubdaemon.Config{
		DataDir: filepath.Join(dir, "hub"), API: at[0].String(), MQTT: at[1].String(), Names: []string{"127.0.0.1"},
	}}
	s.startHub()
	s.config = Config{
		Hub: Hub{URL: "https://" + s.hub.API}, Dir: filepath.Join(dir, "fleet"), Racks: racks, Servers: servers, Image: image, Out: io.Discard,
		Pace: Pace{Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Stop: 50 * time.Millisecond}, Settle: 200 * time.Millisecond,
		Within: within, Backoff: 500 * time.Millisecond, ReportEvery: time.Second, Dial: s.dial,
		From: netip.MustParsePrefix("127.81.0.0/16"),
	}
	if s.config.Hub.CA, err = os.ReadFile(filepath.Join(s.hub.DataDir, "ca.pem")); err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(s.hub.DataDir, "pki", "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	if s.config.Hub.Client, err = api.NewClient(api.Config{BaseURL: s.config.Hub.URL, CA: s.config.Hub.CA, Token: strings.TrimSpace(string(token))}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.config.Hub.Client.CloseIdle)
	s.until("the hub", func() bool { return s.config.Hub.Client.Ready(t.Context()) == nil })
	return s
}

func (s *site) startHub() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- hubdaemon.Run(ctx, s.hub, hubdaemon.Options{Version: "test", Logger: slog.New(slog.DiscardHandler), Ready: sync.OnceFunc(func() { close(ready) })})
	}()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		s.t.Fatalf("the hub did not start: %v", err)
	case <-time.After(within):
		cancel()
		s.t.Fatal("the hub is not ready")
	}
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			s.t.Errorf("hub: %v", err)
		}
	})
	s.t.Cleanup(s.stop)
}

// dial remembers connections, so that they can be cut.
func (s *site) dial(ctx context.Context, rack, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns[rack] = c
	}
	return c, err
}

// cut ends the connection of a rack's agent, as the hub sees it; the hub ends it then.
func (s *site) cut(rack string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conns[rack].(*net.TCPConn).CloseWrite(); err != nil {
		s.t.Fatal(err)
	}
}

// start starts the fleet, and returns when all servers are installed.
func (s *site) start() *Fleet {
	s.t.Helper()
	f := s.startEmpty()
	if _, err := f.Claim(s.t.Context(), Share{Percent: 100}); err != nil {
		s.t.Fatal(err)
	}
	s.await(f, Installed)
	return f
}

// startEmpty starts the fleet without claims.
func (s *site) startEmpty() *Fleet {
	s.t.Helper()
	f, err := Start(s.t.Context(), s.config)
	if err != nil {
		s.t.Fatalf("%v: %s", err, protocol.HintOf(err))
	}
	s.t.Cleanup(func() { _ = f.Close() }) // where the test has not looked
	s.await(f, InStep)
	return f
}

// do does a script.
func (s *site) do(f *Fleet, script string) {
	s.t.Helper()
	steps, err := ParseScript([]byte(script))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := f.Do(s.t.Context(), steps); err != nil {
		s.t.Fatal(err)
	}
}

// openConnections are those of agents that nobody has closed.
func (s *site) openConnections(f *Fleet) (n int) {
	for _, a := range f.agents {
		a.cables.mu.Lock()
		n += len(a.cables.open)
		a.cables.mu.Unlock()
	}
	return n
}

// await waits until the fleet is in a state.
func (s *site) await(f *Fleet, state State) {
	s.t.Helper()
	if _, err := f.Await(s.t.Context(), state, time.Time{}, within); err != nil {
		s.t.Fatal(err)
	}
}

// until looks again and again, until it is so.
func (s *site) until(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s did not come within %s", what, within)
		}
	}
}

// list are the hub's resources of a kind.
func list[T resource.Object](s *site, kind resource.Kind) (out []T) {
	s.t.Helper()
	all, err := s.config.Hub.Client.Objects.List(s.t.Context(), kind)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range all {
		out = append(out, o.(T))
	}
	return out
}

// events are the hub's of a code.
func (s *site) events(code resource.EventCode) (out []api.EventRecord) {
	s.t.Helper()
	for after := uint64(0); ; {
		page, err := s.config.Hub.Client.Events(s.t.Context(), after, 1000)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(page.Items) == 0 {
			return out
		}
		after = page.Next
		for _, e := range page.Items {
			if e.Code == code {
				out = append(out, e)
			}
		}
	}
}
