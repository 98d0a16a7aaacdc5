package tftp

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/protocol"
)

const testToken = "s3cretT0ken"

func serverAddr() netip.Addr { return netip.MustParseAddr("10.99.0.1") }
func clientAddr() netip.Addr { return netip.MustParseAddr("10.99.0.50") }

// pattern is size bytes that differ at every place.
func pattern(size int) []byte {
	b := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

// memFiles has files in memory, by name for everybody and by token.
type memFiles struct {
	files map[string][]byte
	short int64 // how much longer than the truth Size is
	err   error
	panic bool

	mu     sync.Mutex
	opened int
	open   int
	asked  []string   // the last names
	remote netip.Addr // that asked last with a token
}

type memFile struct {
	io.ReadSeeker
	of *memFiles
}

func (f memFile) Close() error {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.of.open--
	return nil
}

func (m *memFiles) get(name string) (*netboot.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened++
	if m.asked = append(m.asked, name); len(m.asked) > 100 {
		m.asked = m.asked[1:]
	}
	if m.panic {
		panic("files broke")
	}
	if m.err != nil {
		return nil, m.err
	}
	b, ok := m.files[name]
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file")
	}
	m.open++
	return &netboot.File{ReadSeekCloser: memFile{bytes.NewReader(b), m}, Size: int64(len(b)) + m.short}, nil
}

func (m *memFiles) Open(remote netip.Addr, tok, name string) (*netboot.File, error) {
	m.mu.Lock()
	m.remote = remote
	m.mu.Unlock()
	if tok != testToken {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "unknown token")
	}
	return m.get(name)
}

func (m *memFiles) OpenFor(remote netip.Addr, name string) (*netboot.File, error) {
	if remote != clientAddr() && !remote.IsLoopback() {
		return nil, protocol.Errorf(protocol.CodeDenied, "open", "no lease")
	}
	return m.get(name)
}

func (m *memFiles) left() (open, opened int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open, m.opened
}

type memEvidence struct {
	mu     sync.Mutex
	events []netboot.Event
}

func (m *memEvidence) Record(e netboot.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
}

func (m *memEvidence) all() []netboot.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

// memTraces keeps the exchanges that were told.
type memTraces struct {
	mu   sync.Mutex
	told []netboot.Exchange
}

func (m *memTraces) add(e netboot.Exchange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, e)
}

func (m *memTraces) all() []netboot.Exchange {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.told)
}

// world is a running server on a network in memory. It belongs into a bubble.
type world struct {
	net      *packetNet
	files    *memFiles
	evidence *memEvidence
	traces   memTraces
	registry *prometheus.Registry
	log      *bytes.Buffer // complete once stop was called
	server   *Server
	stop     func()
}

func start(tb testing.TB, change ...func(*Config)) *world {
	tb.Helper()
	w := &world{
		net:      newPacketNet(),
		files:    &memFiles{files: map[string][]byte{"boot.efi": pattern(100_000), "empty": {}, "grub/grub.cfg": []byte("x")}},
		evidence: &memEvidence{}, registry: prometheus.NewRegistry(), log: &bytes.Buffer{},
	}
	cfg := Config{
		Segment: "rack1", Conn: w.net.open(serverAddr(), Port), Open: w.net.opener, Files: w.files, Evidence: w.evidence, Trace: w.traces.add,
		Registerer: w.registry, Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if w.server, err = New(cfg); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.server.Run(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("Run: %v", err)
		}
		if open, _ := w.files.left(); open != 0 {
			tb.Errorf("%d files are left open", open)
		}
		if n, held := w.server.book.inFlight(); n != 0 || held != 0 || len(w.server.book.clients) != 0 || len(w.server.book.peers) != 0 {
			tb.Errorf("left in the book: %d transfers, %d bytes, %v, %v", n, held, w.server.book.clients, w.server.book.peers)
		}
	})
	tb.Cleanup(w.stop)
	return w
}

// client is a client at an address.
func (w *world) client(a netip.Addr, options ...option) *client {
	return &client{sock: w.net.open(a, 0), server: netip.AddrPortFrom(serverAddr(), Port), options: options}
}

func (w *world) count(tb testing.TB, name, result string) int {
	tb.Helper()
	return counted(tb, w.registry, name, result)
}

// counted is a metric's value; for a vector that of a result, else result is empty.
func counted(tb testing.TB, registry *prometheus.Registry, name, result string) int {
	tb.Helper()
	families, err := registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			is := ""
			for _, l := range m.GetLabel() {
				if l.GetName() == "result" {
					is = l.GetValue()
				}
			}
			switch {
			case is != result:
			case m.GetCounter() != nil:
				return int(m.GetCounter().GetValue())
			case m.GetGauge() != nil:
				return int(m.GetGauge().GetValue())
			default:
				return int(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}

// settled waits until no transfer runs.
func (w *world) settled(tb testing.TB) {
	tb.Helper()
	for range 3600 {
		synctest.Wait()
		if n, _ := w.server.book.inFlight(); n == 0 {
			return
		}
		time.Sleep(time.Second) // of the bubble
	}
	tb.Fatal("transfers do not end")
}
