package image

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	typeUKI       = "application/vnd.ironcore.image.uki"
	typeKernel    = "application/vnd.ironcore.image.kernel"
	typeInitramfs = "application/vnd.ironcore.image.initramfs"
)

// testRegistry is the library's registry in process. wrap may get in between.
type testRegistry struct {
	t    testing.TB
	host string
	mu   sync.Mutex
	wrap func(http.ResponseWriter, *http.Request) bool // true: it has answered
	hits int
}

func newRegistry(t testing.TB) *testRegistry {
	t.Helper()
	r := &testRegistry{t: t}
	inner := ggcr.New(ggcr.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		wrap := r.wrap
		r.hits++
		r.mu.Unlock()
		if wrap == nil || !wrap(w, req) {
			inner.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(s.Close)
	r.host = strings.TrimPrefix(s.URL, "http://")
	return r
}

func (r *testRegistry) misbehave(wrap func(http.ResponseWriter, *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrap = wrap
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (r *testRegistry) send(method, path, mediaType string, body []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.host+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", mediaType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		r.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
}

// blob pushes a blob and returns its descriptor.
func (r *testRegistry) blob(mediaType, body string) v1.Descriptor {
	r.t.Helper()
	d := descriptor(r.t, mediaType, []byte(body))
	r.send(http.MethodPost, "/v2/os/blobs/uploads/?digest="+d.Digest.String(), "application/octet-stream", []byte(body))
	return d
}

// push pushes a manifest or index under a tag and returns its descriptor.
func (r *testRegistry) push(tag string, document any, mediaType types.MediaType) v1.Descriptor {
	r.t.Helper()
	raw, err := json.Marshal(document)
	if err != nil {
		r.t.Fatal(err)
	}
	d := descriptor(r.t, string(mediaType), raw)
	if tag == "" {
		tag = d.Digest.String()
	}
	r.send(http.MethodPut, "/v2/os/manifests/"+tag, string(mediaType), raw)
	return d
}

// image pushes a manifest with the layers.
func (r *testRegistry) image(tag string, layers ...v1.Descriptor) v1.Descriptor {
	r.t.Helper()
	return r.push(tag, manifest(r.blob("application/vnd.ironcore.image.config.v1+json", "{}"), layers...), types.OCIManifestSchema1)
}

func manifest(config v1.Descriptor, layers ...v1.Descriptor) v1.Manifest {
	return v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: layers}
}

func index(mediaType types.MediaType, children ...v1.Descriptor) v1.IndexManifest {
	return v1.IndexManifest{SchemaVersion: 2, MediaType: mediaType, Manifests: children}
}

func descriptor(t testing.TB, mediaType string, body []byte) v1.Descriptor {
	t.Helper()
	h, err := v1.NewHash(digestOf(body))
	if err != nil {
		t.Fatal(err)
	}
	return v1.Descriptor{MediaType: types.MediaType(mediaType), Digest: h, Size: int64(len(body))}
}

func on(d v1.Descriptor, os, arch string) v1.Descriptor {
	d.Platform = &v1.Platform{OS: os, Architecture: arch}
	return d
}

func variant(d v1.Descriptor, arch, variant string) v1.Descriptor {
	d = on(d, "linux", arch)
	d.Platform.Variant = variant
	return d
}

func (r *testRegistry) ref(tag string) string { return r.host + "/os:" + tag }

func (r *testRegistry) digestRef(d v1.Descriptor) string { return r.host + "/os@" + d.Digest.String() }

// memBlobs is a BlobStore that verifies, like the real one.
type memBlobs struct {
	mu    sync.Mutex
	blobs map[string][]byte
	full  bool
}

var errFull = errors.New("no space left")

func newMemBlobs() *memBlobs { return &memBlobs{blobs: make(map[string][]byte)} }

func (m *memBlobs) Has(digest string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.blobs[digest]
	return ok
}

func (m *memBlobs) Write(_ context.Context, digest string, size int64, r io.Reader) error {
	if m.full {
		return errFull
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if int64(len(b)) != size || digestOf(b) != digest {
		return errors.New("blob is wrong")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[digest] = b
	return nil
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// sentOn answers with a redirect below a path.
func sentOn(w http.ResponseWriter, r *http.Request, path, to string) bool {
	if !strings.Contains(r.URL.Path, path) {
		return false
	}
	http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	return true
}

// wantsToken is a registry that has its tokens given out at realm.
func wantsToken(w http.ResponseWriter, r *http.Request, token, realm string) bool {
	if r.Header.Get("Authorization") == "Bearer "+token {
		return false
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="registry"`)
	w.WriteHeader(http.StatusUnauthorized)
	return true
}
