package iso

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a shelf on a store, with a clock and documents of its own.
type site struct {
	*Shelf
	t      testing.TB
	cfg    Config
	store  *store.Store
	kv     *storetest.Memory
	now    time.Time
	needed map[string]bool
	broken error // of what documents need

	mu     sync.Mutex
	events []string
}

func newSite(t testing.TB, change func(*Config)) *site {
	t.Helper()
	s := &site{t: t, now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), needed: map[string]bool{}, kv: storetest.NewMemory()}
	s.openStore()
	s.cfg = Config{
		Dir: t.TempDir(), Quota: 1 << 20, Clock: func() time.Time { return s.now },
		Needed: func() (map[string]bool, error) { return s.needed, s.broken },
		Event: func(_ context.Context, m string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, m)
		},
	}
	if change != nil {
		change(&s.cfg)
	}
	s.open()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *site) openStore() {
	s.t.Helper()
	var err error
	n := 0
	s.store, err = store.Open(context.Background(), store.Config{KV: s.kv, Log: s.kv, Clock: time.Now, NewID: func() string { n++; return fmt.Sprintf("id%d", n) }})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) open() {
	s.t.Helper()
	var err error
	s.cfg.Store, s.cfg.Registerer = s.store, prometheus.NewRegistry()
	if s.Shelf, err = Open(s.cfg); err != nil {
		s.t.Fatal(err)
	}
}

// restart is one of the hub's.
func (s *site) restart() {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.openStore()
	s.open()
}

func digestOf(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// archive is a tar with one file.
func archive(t testing.TB, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: "linux", Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR})
	_, writeErr := io.WriteString(w, content)
	if err := errors.Join(err, writeErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func request(file string, content []byte) protoapi.ISOUploadRequest {
	return protoapi.ISOUploadRequest{File: file, Digest: digestOf(content), Size: int64(len(content))}
}

// upload uploads a content whole.
func (s *site) upload(r protoapi.ISOUploadRequest, content []byte) (resource.ISOFile, error) {
	u, err := s.Begin(s.t.Context(), r, "ann")
	if err != nil || u.Done {
		return resource.ISOFile{}, err
	}
	if u.Offset < u.Size {
		if _, err := s.Append(s.t.Context(), u.ID, u.Offset, bytes.NewReader(content[u.Offset:])); err != nil {
			return resource.ISOFile{}, err
		}
	}
	return s.Finish(s.t.Context(), u.ID, protoapi.ISOFinishRequest{File: r.File})
}

func (s *site) uploaded(r protoapi.ISOUploadRequest, content []byte) resource.ISOFile {
	s.t.Helper()
	f, err := s.upload(r, content)
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

// content is what agents get of a file.
func (s *site) content(file string) []byte {
	s.t.Helper()
	row, err := s.store.ISOs.Get(file)
	if err != nil {
		s.t.Fatal(err)
	}
	f, size, err := s.OpenContent(row.Digest)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil || int64(len(raw)) != size || digestOf(raw) != row.Digest {
		s.t.Errorf("%s: %d of %d bytes, %s, %v", file, len(raw), size, digestOf(raw), err)
	}
	return raw
}

func (s *site) put(objs ...resource.Object) {
	s.t.Helper()
	for _, o := range objs {
		if err := s.store.Objects.Put(s.t.Context(), o); err != nil {
			s.t.Fatal(err)
		}
	}
}

// env is a boot environment with a file for arm64, and one for amd64 in the old fields.
func env(name, file, sum string) *resource.BootEnv {
	e := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{
		Name: "debian-12", IsoFile: "amd64.iso",
		SupportedArchitectures: map[string]resource.EnvArch{"arm64": {IsoFile: file, Sha256: sum, Kernel: "linux"}},
	}}}
	e.Metadata.Name = name
	e.Default()
	return e
}

func wants(t testing.TB, what string, err error, code protocol.Code, words ...string) {
	t.Helper()
	if protocol.CodeOf(err) != code {
		t.Errorf("%s: code %q, want %q: %v", what, protocol.CodeOf(err), code, err)
		return
	}
	for _, w := range words {
		if err != nil && !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q is not in: %v", what, w, err)
		}
	}
}
