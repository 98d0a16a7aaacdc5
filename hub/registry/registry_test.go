package registry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// bench is a registry with a clock that is set, and its HTTP.
type bench struct {
	*Registry
	t   *testing.T
	url string
	now time.Time
}

const quota = 1 << 20

func newBench(t *testing.T, dir string) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Unix(1_800_000_000, 0)}
	var err error
	b.Registry, err = Open(Config{
		Dir: dir, Quota: quota, Clock: func() time.Time { return b.now }, Idle: 200 * time.Millisecond, Whole: 10 * time.Second, Logger: slog.New(slog.DiscardHandler),
		Right: func(r *http.Request) (Caller, Right) {
			as := r.Header.Get("Authorization")
			may := map[string]Right{"often": Throttled, "": None, "known": Known, "pull": Pull, "push": Push, "wrong": None}[as]
			if may <= None {
				as = ""
			}
			return Caller{Name: as}, may
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(b.Registry)
	b.url = srv.URL
	t.Cleanup(func() {
		srv.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// answer is what a request was answered.
type answer struct {
	status int
	code   string // of the error
	body   string
	header http.Header
}

func (b *bench) ask(as, method, path, kind, body string) answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	// As it is: no client makes a path clean that wants to do harm.
	where, query, _ := strings.Cut(path, "?")
	req.URL = &url.URL{Scheme: "http", Host: req.URL.Host, Opaque: where, RawQuery: query}
	req.Header.Set("Authorization", as)
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	var e struct{ Errors []struct{ Code string } }
	a := answer{status: resp.StatusCode, body: string(raw), header: resp.Header}
	if json.Unmarshal(raw, &e) == nil && len(e.Errors) == 1 {
		a.code = e.Errors[0].Code
	}
	return a
}

func digestOf(content string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))) }

// blob pushes a blob as tools do: POST, PATCH, PUT.
func (b *bench) blob(content string) string {
	b.t.Helper()
	at := b.ask("push", http.MethodPost, "/v2/os/blobs/uploads/", "", "").header.Get("Location")
	b.ask("push", http.MethodPatch, at, "", content)
	if a := b.ask("push", http.MethodPut, at+"?digest="+digestOf(content), "", ""); a.status != http.StatusCreated {
		b.t.Fatalf("a blob: %+v", a)
	}
	return digestOf(content)
}

func manifestOf(config string, layers ...string) string {
	var all []string
	for _, l := range layers {
		all = append(all, fmt.Sprintf(`{"digest":%q}`, l))
	}
	return fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"digest":%q},"layers":[%s]}`, typeManifest, config, strings.Join(all, ","))
}

// image pushes an image with one layer under a tag.
func (b *bench) image(tag, layer string) (manifest string) {
	b.t.Helper()
	m := manifestOf(b.blob("{}"), b.blob(layer))
	if a := b.ask("push", http.MethodPut, "/v2/os/manifests/"+tag, typeManifest, m); a.status != http.StatusCreated || a.header.Get("Docker-Content-Digest") != digestOf(m) {
		b.t.Fatalf("a manifest: %+v", a)
	}
	return m
}

// TestPushAndPull: what was pushed is pulled, by tag and by digest, also after a restart.
func TestPushAndPull(t *testing.T) {
	dir := t.TempDir()
	t.Run("push", func(t *testing.T) { newBench(t, dir).image("1", "a layer") })
	t.Run("pull", func(t *testing.T) {
		b := newBench(t, dir)
		m := manifestOf(digestOf("{}"), digestOf("a layer"))
		for _, reference := range []string{"1", digestOf(m)} {
			a := b.ask("pull", http.MethodGet, "/v2/os/manifests/"+reference, "", "")
			if a.status != http.StatusOK || a.body != m || a.header.Get("Content-Type") != typeManifest || a.header.Get("Docker-Content-Digest") != digestOf(m) {
				t.Errorf("%s: %+v", reference, a)
			}
			if h := b.ask("pull", http.MethodHead, "/v2/os/manifests/"+reference, "", ""); h.status != http.StatusOK || h.body != "" || h.header.Get("Content-Length") != fmt.Sprint(len(m)) {
				t.Errorf("HEAD %s: %+v", reference, h)
			}
		}
		if a := b.ask("pull", http.MethodGet, "/v2/os/blobs/"+digestOf("a layer"), "", ""); a.body != "a layer" {
			t.Errorf("the layer: %+v", a)
		}
		if a := b.ask("pull", http.MethodGet, "/v2/os/tags/list", "", ""); a.body != `{"name":"os","tags":["1"]}`+"\n" {
			t.Errorf("the tags: %+v", a)
		}
		if a := b.ask("push", http.MethodPost, "/v2/other/blobs/uploads/?mount="+digestOf("a layer")+"&from=os", "", ""); a.status != http.StatusCreated {
			t.Errorf("a blob of another repository is sent again: %+v", a)
		}
	})
}

// TestRefused: nothing that is wrong leaves anything, and each answer says what it was.
func TestRefused(t *testing.T) {
	b := newBench(t, t.TempDir())
	kept := b.image("1", "a layer")
	upload := func() string {
		return b.ask("push", http.MethodPost, "/v2/os/blobs/uploads/", "", "").header.Get("Location")
	}
	absent := digestOf("never pushed")
	sent := upload()
	b.ask("push", http.MethodPatch, sent, "", "first")
	index := func(of string) string {
		return fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"manifests":[{"digest":%q}]}`, typeIndex, of)
	}
	for name, row := range map[string]struct {
		as, method, path, kind, body string
		status                       int
		code                         string
	}{
		"nobody":                      {"", http.MethodGet, "/v2/", "", "", 401, "UNAUTHORIZED"},
		"nobody, too often":           {"often", http.MethodGet, "/v2/", "", "", 429, "TOOMANYREQUESTS"},
		"nobody, a blob":              {"", http.MethodGet, "/v2/os/blobs/" + digestOf("a layer"), "", "", 401, "UNAUTHORIZED"},
		"known without a right":       {"known", http.MethodGet, "/v2/", "", "", 403, "DENIED"},
		"push by a puller":            {"pull", http.MethodPost, "/v2/os/blobs/uploads/", "", "", 403, "DENIED"},
		"manifest by a puller":        {"pull", http.MethodPut, "/v2/os/manifests/2", typeManifest, kept, 403, "DENIED"},
		"deletion by a puller":        {"pull", http.MethodDelete, "/v2/os/manifests/1", "", "", 403, "DENIED"},
		"up":                          {"push", http.MethodGet, "/v2/../../etc/passwd", "", "", 404, "NAME_INVALID"},
		"up in a name":                {"push", http.MethodPut, "/v2/../x/manifests/1", typeManifest, kept, 404, "NAME_INVALID"},
		"up in a name, encoded":       {"push", http.MethodPut, "/v2/os%2f..%2f../manifests/1", typeManifest, kept, 404, "NAME_INVALID"},
		"up in a tag":                 {"push", http.MethodPut, "/v2/os/manifests/..", typeManifest, kept, 404, "NAME_INVALID"},
		"up in a tag, encoded":        {"push", http.MethodPut, "/v2/os/manifests/%2e%2e%2fbook.json", typeManifest, kept, 404, "NAME_INVALID"},
		"up in a digest":              {"push", http.MethodGet, "/v2/os/blobs/sha256:../../book.json", "", "", 404, "NAME_INVALID"},
		"up in an upload":             {"push", http.MethodPatch, "/v2/os/blobs/uploads/..%2f..%2fbook.json", "", "x", 404, "NAME_INVALID"},
		"a long name":                 {"push", http.MethodPost, "/v2/" + strings.Repeat("a", 256) + "/blobs/uploads/", "", "", 404, "NAME_INVALID"},
		"capital letters":             {"push", http.MethodPost, "/v2/OS/blobs/uploads/", "", "", 404, "NAME_INVALID"},
		"another algorithm":           {"push", http.MethodGet, "/v2/os/blobs/md5:900150983cd24fb0d6963f7d28e17f72", "", "", 404, "NAME_INVALID"},
		"another method":              {"push", http.MethodDelete, "/v2/os/blobs/" + digestOf("a layer"), "", "", 405, "UNSUPPORTED"},
		"PATCH of no upload":          {"push", http.MethodPatch, "/v2/os/blobs/uploads/", "", "x", 405, "UNSUPPORTED"},
		"wrong digest at once":        {"push", http.MethodPost, "/v2/os/blobs/uploads/?digest=" + absent, "", "other", 400, "DIGEST_INVALID"},
		"wrong digest at the end":     {"push", http.MethodPut, sent + "?digest=" + absent, "", "", 400, "DIGEST_INVALID"},
		"no digest":                   {"push", http.MethodPut, upload(), "", "x", 400, "DIGEST_INVALID"},
		"an upload that is not there": {"push", http.MethodPatch, "/v2/os/blobs/uploads/" + strings.Repeat("A", 26), "", "x", 404, "BLOB_UPLOAD_UNKNOWN"},
		"too much":                    {"push", http.MethodPatch, upload(), "", strings.Repeat("x", quota+1), 507, "DENIED"},
		"a manifest of nothing":       {"push", http.MethodPut, "/v2/os/manifests/2", typeManifest, manifestOf(absent), 400, "MANIFEST_BLOB_UNKNOWN"},
		"an index of a blob":          {"push", http.MethodPut, "/v2/os/manifests/2", typeIndex, index(digestOf("a layer")), 400, "MANIFEST_BLOB_UNKNOWN"},
		"another manifest's digest":   {"push", http.MethodPut, "/v2/os/manifests/" + absent, typeManifest, kept, 400, "DIGEST_INVALID"},
		"no JSON":                     {"push", http.MethodPut, "/v2/os/manifests/2", typeManifest, "{", 400, "MANIFEST_INVALID"},
		"another type":                {"push", http.MethodPut, "/v2/os/manifests/2", "text/plain", kept, 400, "MANIFEST_INVALID"},
		"a type that it contradicts":  {"push", http.MethodPut, "/v2/os/manifests/2", typeIndex, kept, 400, "MANIFEST_INVALID"},
		"version 1":                   {"push", http.MethodPut, "/v2/os/manifests/2", typeManifest, `{"schemaVersion":1}`, 400, "MANIFEST_INVALID"},
		"a long manifest":             {"push", http.MethodPut, "/v2/os/manifests/2", typeManifest, strings.Repeat(" ", maxManifest+1), 400, "MANIFEST_INVALID"},
		"a tag that is not there":     {"pull", http.MethodGet, "/v2/os/manifests/2", "", "", 404, "MANIFEST_UNKNOWN"},
		"a blob as a manifest":        {"pull", http.MethodGet, "/v2/os/manifests/" + digestOf("a layer"), "", "", 404, "MANIFEST_UNKNOWN"},
		"a blob that is not there":    {"pull", http.MethodGet, "/v2/os/blobs/" + absent, "", "", 404, "BLOB_UNKNOWN"},
		"no repository":               {"pull", http.MethodGet, "/v2/none/tags/list", "", "", 404, "NAME_UNKNOWN"},
	} {
		if a := b.ask(row.as, row.method, row.path, row.kind, row.body); a.status != row.status || a.code != row.code {
			t.Errorf("%s: %d %s, want %d %s: %s", name, a.status, a.code, row.status, row.code, a.body)
		}
	}
	// A second piece of a blob is refused, and what is pushed stays as it was.
	twice := upload()
	b.ask("push", http.MethodPatch, twice, "", "one")
	if a := b.ask("push", http.MethodPatch, twice, "", "two"); a.status != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("two pieces: %+v", a)
	}
	if a := b.ask("pull", http.MethodGet, "/v2/os/manifests/1", "", ""); a.body != kept {
		t.Errorf("the image is %+v", a)
	}
	entries, err := os.ReadDir(b.cfg.Dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder has %v, %v; want blobs and the book", entries, err)
	}
	if left, err := filepath.Glob(filepath.Join(b.cfg.Dir, "blobs", "tmp-*")); err != nil || len(left) != 0 {
		t.Errorf("unfinished: %v, %v", left, err)
	}
}

// TestSlowAndCut: a body that stops is given up in time, one that is cut leaves nothing, and
// both leave their place to others.
func TestSlowAndCut(t *testing.T) {
	b := newBench(t, t.TempDir())
	for name, cut := range map[string]bool{"slow": false, "cut": true} {
		at := b.ask("push", http.MethodPost, "/v2/os/blobs/uploads/", "", "").header.Get("Location")
		conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: x\r\nAuthorization: push\r\nContent-Length: 1000\r\n\r\nsome", at); err != nil {
			t.Fatal(err)
		}
		if cut {
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.SetReadDeadline(time.Now().Add(20 * b.cfg.Idle)); err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 400 ") || !strings.Contains(string(said), "did not come to its end") {
			t.Errorf("%s: %q, %v", name, said, err)
		}
		_ = conn.Close()
		if len(b.blobs.Digests()) != 0 || len(b.sending) != 0 {
			t.Errorf("%s: there are blobs %v and %d that are sent", name, b.blobs.Digests(), len(b.sending))
		}
	}
}

// TestUploadsAreBounded: who begins and never sends keeps nobody out for long.
func TestUploadsAreBounded(t *testing.T) {
	b := newBench(t, t.TempDir())
	for range maxUploads {
		if a := b.ask("push", http.MethodPost, "/v2/os/blobs/uploads/", "", ""); a.status != http.StatusAccepted {
			t.Fatalf("%+v", a)
		}
	}
	if a := b.ask("push", http.MethodPost, "/v2/os/blobs/uploads/", "", ""); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Errorf("one more: %+v", a)
	}
	b.now = b.now.Add(b.cfg.Whole + time.Second)
	b.blob("later")
}

// TestFull: the bound is said, and deleting an image makes room when its hour is over.
func TestFull(t *testing.T) {
	b := newBench(t, t.TempDir())
	big := strings.Repeat("x", quota*3/4)
	m := b.image("1", big)
	at := b.ask("push", http.MethodPost, "/v2/os/blobs/uploads/", "", "").header.Get("Location")
	other := strings.Repeat("y", quota/2)
	if a := b.ask("push", http.MethodPatch, at, "", other); a.status != http.StatusInsufficientStorage || !strings.Contains(a.body, "registry is full: it may have 1 MiB") || !strings.Contains(a.body, "registry.quotaMiB") {
		t.Fatalf("full: %d %s", a.status, a.body)
	}
	if a := b.ask("push", http.MethodDelete, "/v2/os/manifests/"+digestOf(m), "", ""); a.status != http.StatusAccepted {
		t.Fatalf("deletion: %+v", a)
	}
	if a := b.ask("pull", http.MethodGet, "/v2/os/manifests/1", "", ""); a.status != http.StatusNotFound {
		t.Errorf("a tag of what is gone: %+v", a)
	}
	m = b.image("small", "s")
	if a := b.ask("push", http.MethodDelete, "/v2/os/manifests/small", "", ""); a.status != http.StatusAccepted {
		t.Errorf("a tag: %+v", a)
	}
	if a := b.ask("pull", http.MethodGet, "/v2/os/tags/list", "", ""); a.body != `{"name":"os","tags":[]}`+"\n" {
		t.Errorf("no tags: %+v", a)
	}
	if a := b.ask("push", http.MethodDelete, "/v2/os/manifests/"+digestOf(m), "", ""); a.status != http.StatusAccepted {
		t.Errorf("a manifest without a tag: %+v", a)
	}
	b.collect() // the hour begins
	b.now = b.now.Add(keepFor)
	b.collect()
	if !b.blobs.Has(digestOf(big)) {
		t.Error("a blob was removed within the hour that a push may take")
	}
	b.now = b.now.Add(time.Second)
	b.collect()
	if left := b.blobs.Digests(); len(left) != 0 {
		t.Errorf("there are %v", left)
	}
	b.image("2", other)
}

// TestSmallOnesLeaveRoom: uploads that are sent at once take the room that they need, and not
// what they might.
func TestSmallOnesLeaveRoom(t *testing.T) {
	b := newBench(t, t.TempDir())
	open := make(chan struct{})
	var all sync.WaitGroup
	defer all.Wait()
	defer close(open)
	for range maxSending - 1 {
		r, w := io.Pipe()
		begun := make(chan struct{})
		all.Go(func() {
			_, _ = w.Write([]byte("a beginning"))
			close(begun)
			<-open
			_ = w.Close()
		})
		all.Go(func() {
			_, _, _ = b.blobs.Make(context.Background(), quota, func(out io.Writer) error { _, err := io.Copy(out, r); return err })
		})
		<-begun
	}
	b.blob("one more")
}

// TestIndex: what an index names cannot be taken from under it.
func TestIndex(t *testing.T) {
	b := newBench(t, t.TempDir())
	m := digestOf(b.image("amd64", "a layer"))
	index := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"manifests":[{"digest":%q}]}`, typeIndex, m)
	if a := b.ask("push", http.MethodPut, "/v2/os/manifests/1", typeIndex, index); a.status != http.StatusCreated {
		t.Fatalf("%+v", a)
	}
	if a := b.ask("push", http.MethodDelete, "/v2/os/manifests/"+m, "", ""); a.status != http.StatusConflict {
		t.Errorf("deletion: %+v", a)
	}
	b.now = b.now.Add(2 * keepFor)
	b.collect()
	b.now = b.now.Add(2 * keepFor)
	b.collect()
	if !b.blobs.Has(digestOf("a layer")) {
		t.Error("a layer of the index is gone")
	}
}

// TestNames: the forms of the specification.
func TestNames(t *testing.T) {
	for s, want := range map[string]bool{
		"os": true, "a/b/c": true, "a.b": true, "a_b": true, "a__b": true, "a-b": true, "a---b": true, "0/1": true, strings.Repeat("a", 255): true,
		"": false, "/": false, "a/": false, "/a": false, "a//b": false, "A": false, "a..b": false, "a___b": false, "a._b": false, ".a": false, "a.": false,
		"-a": false, "..": false, "a b": false, "ä": false, "a\x00": false, strings.Repeat("a", 256): false,
	} {
		if got := validName(s); got != want {
			t.Errorf("the name %q: %t", s, got)
		}
	}
	for s, want := range map[string]bool{"1.0": true, "_x": true, "V-1_2.3": true, strings.Repeat("a", 128): true, "": false, ".a": false, "-a": false, "a/b": false, "a:b": false, "ü": false, strings.Repeat("a", 129): false} {
		if got := validTag(s); got != want {
			t.Errorf("the tag %q: %t", s, got)
		}
	}
}

// TestDamagedBook: a book that cannot be read is not taken for an empty one.
func TestDamagedBook(t *testing.T) {
	for _, text := range []string{"", "{", `{"version":2}`, `{"version":1,"more":1}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, bookFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Open(Config{Dir: dir, Quota: quota, Clock: time.Now, Logger: slog.New(slog.DiscardHandler)}); err == nil {
			t.Errorf("%q was read: %v", text, r.Close())
		}
	}
}

// FuzzPath: no path names anything but a repository, a tag, a digest or an upload.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"os/manifests/1", "a/b/blobs/uploads/", "a/blobs/sha256:00", "../manifests/1", "a/tags/list", "a/manifests/../x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		to, ok := parse(path)
		if !ok {
			return
		}
		for _, part := range []string{to.repository, to.reference} {
			if strings.Contains(part, "..") && strings.Contains(part, "/") || strings.HasPrefix(part, "/") || strings.ContainsAny(part, "\\\x00%") {
				t.Errorf("%q is %+v", path, to)
			}
		}
	})
}

// FuzzManifest: whatever a manifest is, it is refused, or names digests only.
func FuzzManifest(f *testing.F) {
	f.Add(typeManifest, manifestOf(digestOf("a"), digestOf("b")))
	f.Add(typeIndex, `{"schemaVersion":2,"manifests":[{"digest":"sha256:x"}]}`)
	f.Fuzz(func(t *testing.T, kind, raw string) {
		names, err := named(kind, []byte(raw))
		if err != nil {
			return
		}
		for _, n := range names {
			if len(n) != len(digestOf("")) {
				t.Errorf("it names %q", n)
			}
		}
	})
}
