package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
)

func digestOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// cacheRun has a cache folder of its own.
func cacheRun(t *testing.T) (*files.Input, *printer.Printer, *strings.Builder) {
	t.Helper()
	out, cache := &strings.Builder{}, t.TempDir()
	getenv := func(name string) string {
		if name == "XDG_CACHE_HOME" {
			return cache
		}
		return ""
	}
	return &files.Input{Getenv: getenv}, &printer.Printer{Out: out, Err: out, Form: printer.FormTable}, out
}

// mirror serves a file, and breaks after so many bytes.
type mirror struct {
	mu      sync.Mutex
	content []byte
	etag    string
	breaks  []int // where each answer breaks off, in bytes of its body
	ranges  []string
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ranges = append(m.ranges, r.Header.Get("Range"))
	w.Header().Set("ETag", m.etag)
	if len(m.breaks) > 0 {
		w = &breaking{w, m.breaks[0]}
		m.breaks = m.breaks[1:]
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(m.content))
}

type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

func TestDownload(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<14) // 256 KiB
	m := &mirror{content: content, etag: `"one"`, breaks: []int{100 << 10}}
	srv := httptest.NewServer(m)
	defer srv.Close()
	from, err := url.Parse(srv.URL + "/os/A.iso?token=sesame")
	if err != nil {
		t.Fatal(err)
	}
	src, pr, out := cacheRun(t)
	path, err := File(t.Context(), src, pr, from, "sha256:"+digestOf(content))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if len(m.ranges) != 2 || m.ranges[0] != "" || !strings.HasPrefix(m.ranges[1], "bytes=") {
		t.Errorf("asked for %q", m.ranges)
	}
	if strings.Contains(out.String(), "sesame") {
		t.Errorf("a credential is shown:\n%s", out.String())
	}
	if _, err := File(t.Context(), src, pr, from, ""); err != nil || len(m.ranges) != 2 { // by the next run
		t.Errorf("downloaded again: %v, %q", err, m.ranges)
	}

	// Another version came in between: nothing of both is mixed.
	_, pr, _ = cacheRun(t)
	m.breaks, m.ranges = []int{100 << 10, 0}, nil
	ctx, cancel := context.WithCancel(t.Context())
	d := &download{pr: pr, from: from, path: filepath.Join(t.TempDir(), "x")}
	f, err := os.OpenFile(d.part(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.piece(ctx, f, 0); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a broken answer: %v", err)
	}
	cancel()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.content, m.etag, m.breaks = bytes.ToUpper(content), `"two"`, nil
	m.mu.Unlock()
	if err := d.whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(d.path); err != nil || !bytes.Equal(got, m.content) {
		t.Errorf("%d bytes of another version, %v", len(got), err)
	}

	// What has not the digest is removed, and said.
	src, pr, _ = cacheRun(t)
	_, err = File(t.Context(), src, pr, from, "sha256:"+digestOf(content))
	if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), digestOf(m.content)) || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%v", err)
	}
	dir, err := cacheDir(src)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	missing, err := url.Parse(gone.URL + "/A.iso")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := File(t.Context(), src, pr, missing, ""); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("%v", err)
	}
}
