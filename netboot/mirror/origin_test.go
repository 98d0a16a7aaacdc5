package mirror_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rackboot/netboot/mirror"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lastChange is when the origin's files were changed, if they do not say.
const lastChange = "Sat, 21 Nov 2020 10:00:00 GMT"

// A page is a file of an origin.
type page struct {
	content string
	etag    string // quoted
	header  http.Header
	// after is how many bytes of a whole body go out before gate is waited for.
	after int
	gate  chan struct{}
	// cut breaks the connection where gate is, or in the middle of what is chunked.
	cut bool
	// chunked leaves the length out.
	chunked bool
	// noHead refuses HEAD.
	noHead bool
}

// origin is a repository's server.
type origin struct {
	mu     sync.Mutex
	pages  map[string]page
	status int  // of all answers, if not 0
	silent bool // it answers nothing
	asked  []string
	seen   []http.Header
}

func newOrigin() *origin { return &origin{pages: map[string]page{}} }

func (o *origin) put(path string, p page) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pages[path] = p
}

func (o *origin) fail(status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.status = status
}

func (o *origin) fallSilent() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silent = true
}

// requests are the requests since the last call, as "GET /path", with the range.
func (o *origin) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.asked
	o.asked = nil
	return out
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	line := r.Method + " " + r.URL.EscapedPath()
	if v := r.Header.Get("Range"); v != "" {
		line += " " + v
	}
	o.asked = append(o.asked, line)
	o.seen = append(o.seen, r.Header.Clone())
	p, ok := o.pages[r.URL.Path]
	status, silent := o.status, o.silent
	o.mu.Unlock()
	switch {
	case silent:
		<-r.Context().Done()
		return
	case status != 0:
		w.WriteHeader(status)
		return
	case ok && p.noHead && r.Method == http.MethodHead:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case !ok:
		http.NotFound(w, r)
		return
	}
	if p.etag != "" {
		w.Header().Set("ETag", p.etag)
	}
	maps.Copy(w.Header(), p.header)
	if p.chunked {
		_, _ = io.WriteString(w, p.content[:len(p.content)/2]) // a client that went is no matter
		_ = http.NewResponseController(w).Flush()
		if p.cut {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, p.content[len(p.content)/2:])
		return
	}
	if p.gate != nil && r.Method == http.MethodGet && r.Header.Get("Range") == "" {
		w.Header().Set("Content-Length", fmt.Sprint(len(p.content)))
		_, _ = io.WriteString(w, p.content[:p.after])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-p.gate:
		case <-r.Context().Done():
			return
		}
		if p.cut {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, p.content[p.after:])
		return
	}
	var modified time.Time
	switch {
	case p.header.Get("Last-Modified") != "":
		modified, _ = http.ParseTime(p.header.Get("Last-Modified"))
	case p.etag == "":
		modified, _ = http.ParseTime(lastChange)
	}
	http.ServeContent(w, r, "", modified, strings.NewReader(p.content))
}

// serve starts the origin on loopback.
func serve(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// open opens a mirror.
func open(t testing.TB, c mirror.Config) *mirror.Mirror {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	m, err := mirror.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() }) // some tests close it themselves
	return m
}

func tree(t testing.TB, m *mirror.Mirror, base string) fs.FS {
	t.Helper()
	f, err := m.FS(base)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// want reads a file and compares.
func want(t testing.TB, fsys fs.FS, name, content string) {
	t.Helper()
	got, err := fs.ReadFile(fsys, name)
	if err != nil || string(got) != content {
		t.Errorf("%s: %.60q, %v; want %.60q", name, got, err, content)
	}
}

// settled waits until nothing is fetched any more.
func settled(t testing.TB, fsys fs.FS, name string) {
	t.Helper()
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(io.Discard, f); err != nil {
		t.Fatal(err)
	}
}

// long is a content of that many bytes, which is nowhere the same.
func long(n int) string {
	var b []byte
	for i := uint32(0); len(b) < n; i++ {
		b = hex.AppendEncode(b, binary.BigEndian.AppendUint32(nil, i))
	}
	return string(b[:n])
}
