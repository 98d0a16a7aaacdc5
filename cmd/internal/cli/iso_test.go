package cli

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/hub/api/apitest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// isoTar is a tar of about 17 MiB, more than a piece, with a different text in each place.
func isoTar(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	content := make([]byte, 17<<20)
	for i := range content {
		content[i] = byte(i * i >> 8)
	}
	err := w.WriteHeader(&tar.Header{Name: "linux", Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR})
	_, writeErr := w.Write(content)
	if err := errors.Join(err, writeErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sumOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// isoApp is rackctl with a cache folder of its own.
func isoApp(t *testing.T) (*app, *output) {
	t.Helper()
	out := &output{changed: make(chan struct{}, 1)}
	cache := t.TempDir()
	return &app{cfg: Config{Out: out, Err: out, Getenv: func(name string) string {
		if name == "XDG_CACHE_HOME" {
			return cache
		}
		return ""
	}}, print: printer{out: out, form: formTable}}, out
}

// What a broken connection and an earlier run have left is gone on with; what somebody else
// has sent under the digest is not believed.
func TestSendISO(t *testing.T) {
	content := isoTar(t)
	req := api.ISOUploadRequest{File: "A.tar", Digest: "sha256:" + sumOf(content), Size: int64(len(content))}
	for _, row := range []struct {
		name string
		left []byte // at the hub, before
		want string
	}{
		{"nothing is there", nil, "uploading A.tar: 100 %"},
		{"half of it is there", content[:10<<20], "10 MiB of 17 MiB are there already"},
		{"all of it is there", content, "the hub checks A.tar"},
		{"something else is there", bytes.Repeat([]byte("x"), 5<<20), "is of another file, and is sent again"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := apitest.New(t)
			if row.left != nil {
				u, err := h.ISOs.Begin(t.Context(), req, "bob")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := h.ISOs.Append(t.Context(), u.ID, 0, bytes.NewReader(row.left)); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(t.TempDir(), "A.tar")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			a, out := isoApp(t)
			if err := a.uploadISO(t.Context(), h.Client(t), isoUpload{}, path); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.text(), row.want) {
				t.Errorf("no %q in\n%s", row.want, out.text())
			}
			f, err := h.Store.GetISO("A.tar")
			if err != nil || f.Digest != req.Digest {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

// A hub without room is not asked again and again.
func TestSendISONoRoom(t *testing.T) {
	h := apitest.New(t)
	path := filepath.Join(t.TempDir(), "A.iso")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(apitest.ISOQuota+1), f.Close()); err != nil { // sparse
		t.Fatal(err)
	}
	a, out := isoApp(t)
	err = a.uploadISO(t.Context(), h.Client(t), isoUpload{}, path)
	if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "insufficient storage") || strings.Contains(out.text(), "tried again") {
		t.Errorf("%v\n%s", err, out.text())
	}
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
	a, out := isoApp(t)
	path, err := a.download(t.Context(), from, "sha256:"+sumOf(content))
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
	if strings.Contains(out.text(), "sesame") {
		t.Errorf("a credential is shown:\n%s", out.text())
	}
	if _, err := a.download(t.Context(), from, ""); err != nil || len(m.ranges) != 2 { // by the next run
		t.Errorf("downloaded again: %v, %q", err, m.ranges)
	}

	// Another version came in between: nothing of both is mixed.
	a, _ = isoApp(t)
	m.breaks, m.ranges = []int{100 << 10, 0}, nil
	ctx, cancel := context.WithCancel(t.Context())
	d := &download{app: a, from: from, path: filepath.Join(t.TempDir(), "x")}
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
	a, _ = isoApp(t)
	_, err = a.download(t.Context(), from, "sha256:"+sumOf(content))
	if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), sumOf(m.content)) || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%v", err)
	}
	dir, err := a.cacheDir()
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
	if _, err := a.download(t.Context(), missing, ""); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("%v", err)
	}
}

// Facts §1.1: the entry of an architecture counts if it is there, else for amd64 the fields
// of the operating system.
func TestISOFromEnv(t *testing.T) {
	two := resource.EnvOS{
		IsoFile: "old.iso", IsoSha256: "01", IsoURL: "https://m/old.iso",
		SupportedArchitectures: map[string]resource.EnvArch{"arm64": {IsoFile: "arm.iso", Sha256: "02", IsoURL: "https://m/arm.iso"}},
	}
	one := resource.EnvOS{IsoFile: "old.iso", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "new.iso", IsoURL: "https://m/new.iso"}}}
	for _, row := range []struct {
		name      string
		os        resource.EnvOS
		flags     isoUpload
		from      string
		want      string // from, name and sum
		wantError string
	}{
		{"two, and none is said", two, isoUpload{}, "", "", "amd64, arm64"},
		{"the fields of the system", two, isoUpload{arch: "amd64"}, "", "https://m/old.iso old.iso 01", ""},
		{"an entry", two, isoUpload{arch: "arm64"}, "", "https://m/arm.iso arm.iso 02", ""},
		{"an architecture that is none", two, isoUpload{arch: "riscv64"}, "", "", "amd64, arm64"},
		{"the entry wins", one, isoUpload{}, "", "https://m/new.iso new.iso ", ""},
		{"content from a file", two, isoUpload{arch: "arm64"}, "x.iso", "x.iso arm.iso 02", ""},
		{"another name", two, isoUpload{arch: "arm64", name: "y.iso"}, "", "https://m/arm.iso y.iso 02", ""},
		{"another sum", two, isoUpload{arch: "arm64", sum: "03"}, "", "", "says the SHA-256 02, and --sha256 is 03"},
		{"no file", resource.EnvOS{SupportedArchitectures: map[string]resource.EnvArch{"amd64": {}}}, isoUpload{}, "", "", "no isoFile"},
		{"no URL", resource.EnvOS{IsoFile: "a.iso"}, isoUpload{}, "", "", "no isoUrl"},
	} {
		env := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: row.os}}
		env.Metadata.Name = "debian-12"
		u := row.flags
		from, err := u.fromEnv(env, row.from)
		if row.wantError != "" {
			if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.wantError) || protocol.HintOf(err) == "" {
				t.Errorf("%s: %v", row.name, err)
			}
			continue
		}
		if got := from + " " + u.name + " " + u.sum; err != nil || got != row.want {
			t.Errorf("%s: %q, %v", row.name, got, err)
		}
	}
}

// From an environment to the hub: its name, its checksum, its URL.
func TestUploadFromEnv(t *testing.T) {
	content := isoTar(t)
	m := &mirror{content: content, etag: `"one"`}
	remote := httptest.NewServer(m)
	defer remote.Close()
	env := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{
		Name: "x-1", IsoFile: "X 1.tar", IsoSha256: sumOf(content), IsoURL: remote.URL + "/x.tar?key=sesame",
	}}}
	env.Metadata.Name = "x-1"
	env.Default()
	h := apitest.New(t)
	if err := h.Store.Put(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	a, out := isoApp(t)
	u := isoUpload{}
	from, err := u.fromEnv(env, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.uploadISO(t.Context(), h.Client(t), u, from); err != nil {
		t.Fatal(err)
	}
	f, err := h.Store.GetISO("X 1.tar")
	if err != nil || f.Uploaded != "sha256:"+sumOf(content) || f.Source != remote.URL+"/x.tar" || strings.Contains(out.text(), "sesame") {
		t.Errorf("%+v, %v\n%s", f, err, out.text())
	}
	dir, err := a.cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// On a screen a bar is one line; else there is a line for each tenth.
func TestBar(t *testing.T) {
	var text, screen bytes.Buffer
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := &bar{out: &text, what: "uploading", total: 1000 << 20, clock: func() time.Time { return now }, began: now}
	s := &bar{out: &screen, screen: true, what: "uploading", total: 1000 << 20, clock: func() time.Time { return now }, began: now}
	r := &barReader{r: io.LimitReader(zero{}, 1000<<20), bar: b}
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	b.end()
	for range 10 {
		now = now.Add(10 * time.Second)
		s.set(s.have + 100<<20)
	}
	s.end()
	if got := strings.Count(text.String(), "\n"); got != 10 || !strings.HasSuffix(text.String(), "uploading: 100 % of 1000 MiB\n") {
		t.Errorf("%d lines:\n%s", got, text.String())
	}
	if got := screen.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "\ruploading [###############               ]  50 % of 1000 MiB, 10.0 MiB/s, 50s left") {
		t.Errorf("%q", got)
	}
}

type zero struct{}

func (zero) Read(b []byte) (int, error) { clear(b); return len(b), nil }
