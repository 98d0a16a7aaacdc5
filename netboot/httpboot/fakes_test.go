package httpboot

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"rackboot/netboot"
	"rackboot/protocol"
)

const token = "s3cretT0ken"

// patience is how long what must come may take on a machine that has much else to do.
const patience = time.Minute

// dirFiles is a Files with one attempt, whose files are in a directory.
type dirFiles struct {
	dir       string
	mu        sync.Mutex
	reports   []string
	last      protocol.ProbeReport
	reportErr error
	openErr   error
}

func (d *dirFiles) Open(_ netip.Addr, tok, name string) (*netboot.File, error) {
	if d.openErr != nil {
		return nil, d.openErr
	}
	notFound := protocol.Errorf(protocol.CodeNotFound, "open", "no such file")
	if tok != token {
		return nil, notFound
	}
	f, err := os.Open(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, notFound
	}
	st, err := f.Stat()
	if err != nil || st.IsDir() {
		f.Close()
		return nil, notFound
	}
	return &netboot.File{ReadSeekCloser: f, Size: st.Size(), ContentType: "application/efi", ETag: `"e1"`, ModTime: time.Unix(1e9, 0)}, nil
}

func (d *dirFiles) Report(_ context.Context, _ netip.Addr, tok string, r protocol.ProbeReport) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reportErr != nil {
		return d.reportErr
	}
	if tok != token {
		return protocol.Errorf(protocol.CodeNotFound, "report", "unknown token")
	}
	d.reports = append(d.reports, string(r.State))
	d.last = r
	return nil
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

// world is a running server.
type world struct {
	base     string // http://address
	addr     string
	files    *dirFiles
	evidence *memEvidence
	registry *prometheus.Registry
	log      *bytes.Buffer // complete once stop was called
	stop     func()
	server   *Server
}

const bootName = "boot.efi"

func bootBytes() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 1<<17) } // 2 MiB: two chunks

func start(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	w := &world{files: &dirFiles{dir: t.TempDir()}, evidence: &memEvidence{}, registry: prometheus.NewRegistry(), log: &bytes.Buffer{}}
	for name, b := range map[string][]byte{bootName: bootBytes(), "empty.efi": nil, "small.efi": []byte("MZ")} {
		if err := os.WriteFile(filepath.Join(w.files.dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Listener: l, Files: w.files, Evidence: w.evidence, Registerer: w.registry,
		Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	w.server, w.addr, w.base = s, l.Addr().String(), "http://"+l.Addr().String()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		goleak.VerifyNone(t)
	})
	t.Cleanup(w.stop)
	return w
}

// raw speaks HTTP without a client's help: no cleaning of paths, no redirects.
func (w *world) raw(t *testing.T, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if w.server.scheme == schemeHTTPS {
		c = secureClient(c)
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// get is one request on a connection of its own.
func (w *world) get(t *testing.T, method, path, headers string) (status string, header map[string]string, body string) {
	t.Helper()
	out := w.raw(t, method+" "+path+" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"+headers+"\r\n")
	head, body, _ := strings.Cut(out, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	header = make(map[string]string)
	for _, l := range lines[1:] {
		k, v, _ := strings.Cut(l, ": ")
		header[k] = v
	}
	return lines[0], header, body
}
