package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/iso"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
)

// mirror is a server of files that can be made to fail.
type mirror struct {
	*httptest.Server
	mu       sync.Mutex
	files    map[string][]byte
	etag     string
	cut      int  // bytes after which an answer ends; 0 is never
	cuts     int  // how often
	noRanges bool // it knows none
	noLength bool
	asked    []string // ranges and validators
	sent     int      // bytes
}

func newMirror(t testing.TB, files map[string][]byte) *mirror {
	m := &mirror{files: files, etag: `"1"`}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *mirror) set(change func(*mirror)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

// seen is what was asked for and how many bytes were sent, when no answer is under way.
func (m *mirror) seen() (asked []string, sent int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked), m.sent
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.files[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	m.asked = append(m.asked, strings.Join([]string{r.Header.Get("Range"), r.Header.Get("If-Range"), r.Header.Get("If-None-Match")}, "|"))
	if m.etag != "" {
		w.Header().Set("ETag", m.etag)
	}
	if m.noRanges {
		r.Header.Del("Range")
	}
	if m.noLength {
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush() //nolint:errcheck // it makes the answer a chunked one
		_, _ = w.Write(content)
		return
	}
	out := &cutting{ResponseWriter: w, left: -1}
	if m.cuts > 0 {
		m.cuts--
		out.left = m.cut
	}
	http.ServeContent(out, r, "", time.Time{}, bytes.NewReader(content))
	m.sent += out.sent
	if out.left == 0 {
		panic(http.ErrAbortHandler) // the connection breaks
	}
}

// cutting ends after so many bytes.
type cutting struct {
	http.ResponseWriter
	left, sent int
}

func (c *cutting) Write(b []byte) (int, error) {
	if c.left == 0 {
		return 0, errors.New("cut")
	}
	if c.left > 0 {
		b = b[:min(len(b), c.left)]
		c.left -= len(b)
	}
	n, err := c.ResponseWriter.Write(b)
	c.sent += n
	if c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush() // so that what was sent arrives
	}
	return n, err
}

// plainKeys are a scheme of the tests: a signature is the key's name, a space and the
// digest of the content.
type plainKeys string

func (plainKeys) Keys(raw []byte) (iso.Keys, error) { return plainKeys(raw), nil }

func (k plainKeys) Known(signature []byte) error {
	if name, _, ok := bytes.Cut(signature, []byte(" ")); !ok || string(name) != string(k) {
		return protocol.Errorf(protocol.CodeDenied, "check signature", "the signature is of key %s", name)
	}
	return nil
}

func (k plainKeys) Check(content io.Reader, signature []byte, _ time.Time) (string, string, error) {
	raw, err := io.ReadAll(content)
	if err == nil && string(signature) != string(k)+" "+sumOf(raw) {
		err = errors.New("it is of other content")
	}
	return "FFFF", string(k), err
}

func sumOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// bench is a hub's store of files with a fetcher.
type bench struct {
	shelf *iso.Shelf
	*Fetcher
}

func openBench(dir string, crash func(string), change func(*iso.Config)) (*bench, error) {
	kv := storetest.NewMemory()
	st, err := store.Open(context.Background(), store.Config{KV: kv, Log: kv, Clock: time.Now, NewID: func() string { return "id" }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	cfg := iso.Config{
		Dir: dir, Store: st, Needed: func() (map[string]bool, error) { return nil, nil }, Verifier: plainKeys(""), Keyring: []byte("fedora"),
		Clock: time.Now, Registerer: prometheus.NewRegistry(), Crash: crash,
	}
	if change != nil {
		change(&cfg)
	}
	shelf, err := iso.Open(cfg)
	if err != nil {
		return nil, err
	}
	f, err := New(Config{Shelf: shelf, Clock: time.Now, Registerer: prometheus.NewRegistry(), Crash: crash})
	return &bench{shelf, f}, err
}

func newBench(t testing.TB, dir string, change func(*iso.Config)) *bench {
	t.Helper()
	b, err := openBench(dir, nil, change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.shelf.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) content(t testing.TB, digest string) []byte {
	t.Helper()
	f, _, err := b.shelf.OpenContent(digest)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
