package rack

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"rackboot/integration/sim"
)

// registry is an OCI registry behind a proxy that can spoil what it serves.
type registry struct {
	behind *sim.Registry
	proxy  *httptest.Server
	down   atomic.Bool
	spoil  atomic.Pointer[func([]byte) []byte] // of blobs; nil serves them as they are
}

func startRegistry(t *testing.T) *registry {
	t.Helper()
	behind, err := sim.StartRegistry("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &registry{behind: behind}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: behind.Addr})
	proxy.ModifyResponse = r.modify
	r.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.down.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		r.proxy.Close()
		_ = behind.Close()
	})
	return r
}

func (r *registry) modify(resp *http.Response) error {
	spoil := r.spoil.Load()
	if spoil == nil || !strings.Contains(resp.Request.URL.Path, "/blobs/") || resp.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	// The length stays as it was: what is missing breaks the connection.
	resp.Body = io.NopCloser(bytes.NewReader((*spoil)(body)))
	return nil
}

// push puts an image with one UKI into the registry and returns its reference.
func (r *registry) push(t *testing.T, uki []byte) string {
	t.Helper()
	ref, err := r.behind.Push("demo/os:1", uki)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(ref, r.behind.Addr, strings.TrimPrefix(r.proxy.URL, "http://"), 1)
}
