package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/protocol"
	"rackboot/state/blob"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, cfg blob.Config) *blob.Store {
	t.Helper()
	s, err := blob.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it themselves
	return s
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func write(t *testing.T, s *blob.Store, content string) {
	t.Helper()
	if err := s.Write(t.Context(), digest(content), int64(len(content)), strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

// files are the names in dir.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		out = append(out, f.Name())
	}
	return out
}

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, blob.Config{Dir: dir})
	for _, content := range []string{"kernel", ""} {
		d := digest(content)
		if s.Has(d) {
			t.Errorf("%q is there before it was written", content)
		}
		write(t, s, content)
		f, size, err := s.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if string(got) != content || size != int64(len(content)) || err != nil || !s.Has(d) {
			t.Errorf("read %q of size %d, %v; want %q", got, size, err, content)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Verify(t.Context(), d); err != nil {
			t.Error(err)
		}
		// A second write reads nothing.
		err = s.Write(t.Context(), d, int64(len(content)), iotest.ErrReader(errors.New("was read")))
		if err != nil {
			t.Errorf("second write: %v", err)
		}
	}
	if _, _, err := s.Open(digest("other")); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("Open of what was never written: %v", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		digest string
		size   int64
		r      io.Reader
		code   protocol.Code
		words  []string
	}{
		{"other content", nil, digest("right"), 5, strings.NewReader("wrong"), protocol.CodeInvalid, []string{digest("right"), digest("wrong")}},
		{"short", nil, digest("right"), 5, strings.NewReader("rig"), protocol.CodeInvalid, []string{digest("right"), digest("rig"), "3 of 5"}},
		{"short, but the digest fits", nil, digest("right"), 6, strings.NewReader("right"), protocol.CodeInvalid, []string{"5 of 6"}},
		{"long", nil, digest("right"), 5, strings.NewReader("right and more"), protocol.CodeInvalid, []string{"longer than its 5"}},
		{"source fails", nil, digest("right"), 5, io.MultiReader(strings.NewReader("rig"), iotest.ErrReader(errors.New("mirror away"))), protocol.CodeUnavailable, []string{"mirror away"}},
		{"source fails with a code", nil, digest("right"), 5, iotest.ErrReader(protocol.Errorf(protocol.CodeDenied, "pull", "no access")), protocol.CodeDenied, []string{"no access"}},
		{"canceled", canceled, digest("right"), 5, strings.NewReader("right"), protocol.CodeTimeout, nil},
		{"negative size", nil, digest("right"), -1, strings.NewReader("right"), protocol.CodeInvalid, nil},
		{"other algorithm", nil, "sha512:" + strings.Repeat("0", 128), 5, strings.NewReader("right"), protocol.CodeInvalid, nil},
		{"upper case", nil, strings.ToUpper(digest("right")), 5, strings.NewReader("right"), protocol.CodeInvalid, nil},
		{"path", nil, "sha256:../../../etc/passwd", 5, strings.NewReader("right"), protocol.CodeInvalid, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, blob.Config{Dir: dir})
			if c.ctx == nil {
				c.ctx = t.Context()
			}
			err := s.Write(c.ctx, c.digest, c.size, c.r)
			if protocol.CodeOf(err) != c.code {
				t.Errorf("code %s, want %s: %v", protocol.CodeOf(err), c.code, err)
			}
			for _, w := range c.words {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("the error does not name %q: %v", w, err)
				}
			}
			if got := files(t, dir); len(got) != 0 || s.Has(c.digest) {
				t.Errorf("left behind: %q", got)
			}
			write(t, s, "right") // it works with the right content
		})
	}
}

func TestOpenStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, blob.Config{Dir: dir})
	write(t, s, "kept")
	if _, err := blob.Open(blob.Config{Dir: dir}); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("second Open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tmp-123", "README"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, blob.Config{Dir: dir})
	if got := files(t, dir); len(got) != 2 || !s.Has(digest("kept")) || got[1] != "README" {
		t.Errorf("after reopen: %q", got)
	}
	for _, cfg := range []blob.Config{{}, {Dir: dir, Quota: -1}, {Dir: dir, MinFree: -1}} {
		if _, err := blob.Open(cfg); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("Open(%+v): %v", cfg, err)
		}
	}
}

func TestVerifyRemovesDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, blob.Config{Dir: dir})
	write(t, s, "kernel")
	d := digest("kernel")
	path := filepath.Join(dir, strings.TrimPrefix(d, "sha256:"))
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("kernal"), 0o600)); err != nil {
		t.Fatal(err)
	}
	err := s.Verify(t.Context(), d)
	if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), d) || !strings.Contains(err.Error(), digest("kernal")) {
		t.Errorf("Verify of a damaged blob: %v", err)
	}
	if s.Has(d) || len(files(t, dir)) != 0 {
		t.Error("the damaged blob is still there")
	}
	// A blob that somebody removed is written again.
	write(t, s, "kernel")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Open(d); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("Open of a removed file: %v", err)
	}
	write(t, s, "kernel")
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	s := open(t, blob.Config{Dir: t.TempDir(), Registerer: reg})
	write(t, s, "kernel")
	if err := s.Pin(digest("kernel")); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	want := `
# HELP rackboot_blob_pinned_bytes Size of the blobs that may not be removed.
# TYPE rackboot_blob_pinned_bytes gauge
rackboot_blob_pinned_bytes 6
# HELP rackboot_blob_writes_total Blobs written, by result: ok or an error code.
# TYPE rackboot_blob_writes_total counter
rackboot_blob_writes_total{result="ok"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "rackboot_blob_pinned_bytes", "rackboot_blob_writes_total"); err != nil {
		t.Error(err)
	}
}

// A digest comes from outside and becomes a file name.
func FuzzDigest(f *testing.F) {
	for _, s := range []string{digest(""), "sha256:", "sha256:..", "sha256:" + strings.Repeat("/", 64), "md5:x", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, d string) {
		dir := t.TempDir()
		s := open(t, blob.Config{Dir: dir})
		err := s.Write(t.Context(), d, 0, bytes.NewReader(nil))
		if (err == nil) != (d == digest("")) {
			t.Errorf("Write of nothing as %q: %v", d, err)
		}
		if err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("code %s: %v", protocol.CodeOf(err), err)
		}
	})
}
