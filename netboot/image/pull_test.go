package image

import (
	"context"
	"encoding/pem"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// patient waits for what must come, also on a machine that has much else to do.
func patient() Options {
	return Options{DialTimeout: time.Minute, HeaderTimeout: time.Minute, IdleTimeout: time.Minute}
}

// pxeImage pushes an image of two artefacts and resolves it.
func pxeImage(t *testing.T, r *testRegistry) (resource.Image, string) {
	t.Helper()
	r.image("v1", r.blob(typeKernel, "kernel bytes"), r.blob(typeInitramfs, "initramfs bytes"))
	img, err := Resolve(t.Context(), r.ref("v1"), "amd64", patient())
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := Pin(img)
	if err != nil {
		t.Fatal(err)
	}
	return img, pinned
}

func TestPull(t *testing.T) {
	r := newRegistry(t)
	img, pinned := pxeImage(t, r)
	blobs := newMemBlobs()
	if err := Pull(t.Context(), pinned, img.Artefacts, blobs, patient()); err != nil {
		t.Fatal(err)
	}
	if len(blobs.blobs) != 2 || string(blobs.blobs[img.Artefacts[0].Digest]) != "kernel bytes" {
		t.Errorf("got %v", blobs.blobs)
	}
	hits := r.hits
	if err := Pull(t.Context(), pinned, img.Artefacts, blobs, patient()); err != nil || r.hits != hits {
		t.Errorf("a complete image asks the registry %d times: %v", r.hits-hits, err)
	}
	other := resource.Artefact{Kind: resource.ArtefactUKI, Digest: digestOf(nil), Size: 1}
	if err := Pull(t.Context(), pinned, []resource.Artefact{other}, blobs, patient()); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("an artefact of another image: %v", err)
	}
	if err := Pull(t.Context(), r.ref("v1"), img.Artefacts, blobs, patient()); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("by tag: %v", err)
	}
	full := newMemBlobs()
	full.full = true
	if err := Pull(t.Context(), pinned, img.Artefacts, full, patient()); !errors.Is(err, errFull) {
		t.Errorf("store is full: %v", err)
	}
}

// TestMirror: the reference keeps its registry, the mirror is asked.
func TestMirror(t *testing.T) {
	r := newRegistry(t)
	r.image("v1", r.blob(typeUKI, "uki"))
	opts := patient()
	opts.Mirrors = map[string]string{"registry.example": r.host}
	img, err := Resolve(t.Context(), "registry.example/os:v1", "amd64", opts)
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := Pin(img)
	if err != nil || !strings.HasPrefix(pinned, "registry.example/os@sha256:") {
		t.Fatalf("pinned %q: %v", pinned, err)
	}
	blobs := newMemBlobs()
	came := map[Source]int64{}
	opts.Pulled = func(from Source, bytes int64) { came[from] += bytes }
	if err := Pull(t.Context(), pinned, img.Artefacts, blobs, opts); err != nil || !blobs.Has(img.Artefacts[0].Digest) {
		t.Errorf("pull: %v", err)
	}
	if len(came) != 1 || came[SourceMirror] != 3 {
		t.Errorf("counted %v", came)
	}
	// The origin is not asked in a mirror's place, whatever the mirror answers.
	origin := newRegistry(t)
	origin.image("v1", origin.blob(typeUKI, "uki"))
	r.misbehave(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusNotFound); return true })
	before := origin.hits
	opts.Mirrors = map[string]string{origin.host: r.host}
	if _, err := Resolve(t.Context(), origin.ref("v1"), "amd64", opts); protocol.CodeOf(err) != protocol.CodeNotFound || origin.hits != before {
		t.Errorf("mirror without the image: %v; the origin was asked %d times", err, origin.hits-before)
	}
}

// TestBadRegistry: what a registry may do wrong, how it is told, and that nothing
// is left in the store.
func TestBadRegistry(t *testing.T) {
	answer := func(path string, f http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, path) {
				return false
			}
			f(w, r)
			return true
		}
	}
	status := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) }
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(s)) }
	}
	header := func(o *Options) { o.HeaderTimeout = 300 * time.Millisecond }
	idle := func(o *Options) { o.IdleTimeout = 300 * time.Millisecond }
	kernel := digestOf([]byte("kernel bytes"))
	for _, row := range []struct {
		name string
		wrap func(http.ResponseWriter, *http.Request) bool
		code protocol.Code
		text []string       // each in the error or its hint
		wait func(*Options) // of what hangs; nil where nothing does
	}{
		{"truncates a blob", answer("/blobs/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "12")
			_, _ = w.Write([]byte("kernel"))
		}), protocol.CodeInvalid, []string{kernel, digestOf([]byte("kernel")), "6 of 12"}, nil},
		{"truncates a blob and its length", answer("/blobs/", text("kernel")), protocol.CodeInvalid, []string{kernel, digestOf([]byte("kernel"))}, nil},
		{"lies about a blob", answer("/blobs/", text("KERNEL bytes")), protocol.CodeInvalid, []string{kernel, digestOf([]byte("KERNEL bytes"))}, nil},
		{"sends a blob without end", answer("/blobs/", text(strings.Repeat("kernel bytes", 1000))), protocol.CodeInvalid, []string{kernel, "more than 12"}, nil},
		{"lies about the manifest", answer("/manifests/", text("{}")), protocol.CodeInvalid, []string{digestOf([]byte("{}"))}, nil},
		{"has lost the blob", answer("/blobs/", status(404)), protocol.CodeNotFound, []string{kernel}, nil},
		{"has lost the manifest", answer("/manifests/", status(404)), protocol.CodeNotFound, []string{"does not exist"}, nil},
		{"wants a login", answer("/v2/", status(401)), protocol.CodeDenied, []string{"denies"}, nil},
		{"wants a login for the repository", answer("/manifests/", status(401)), protocol.CodeDenied, []string{"denies"}, nil},
		{"forbids", answer("/manifests/", status(403)), protocol.CodeDenied, []string{"denies"}, nil},
		{"is broken", answer("/manifests/", status(500)), protocol.CodeUnavailable, []string{"answered 500"}, nil},
		{"hangs before the header", answer("/manifests/", hang), protocol.CodeTimeout, []string{"did not answer"}, header},
		{"hangs at once", answer("/v2/", hang), protocol.CodeTimeout, []string{"did not answer"}, header},
		{"hangs in a blob", answer("/blobs/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "12")
			_, _ = w.Write([]byte("kernel"))
			w.(http.Flusher).Flush()
			hang(w, r)
		}), protocol.CodeTimeout, []string{"sent nothing for"}, idle},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRegistry(t)
			img, pinned := pxeImage(t, r)
			r.misbehave(row.wrap)
			blobs := newMemBlobs()
			opts := patient()
			if row.wait != nil {
				row.wait(&opts)
			}
			err := Pull(t.Context(), pinned, img.Artefacts, blobs, opts)
			if protocol.CodeOf(err) != row.code {
				t.Fatalf("got %s: %v", protocol.CodeOf(err), err)
			}
			for _, s := range append(row.text, r.host) {
				if !strings.Contains(err.Error()+protocol.HintOf(err), s) {
					t.Errorf("error %q (hint %q) does not say %q", err, protocol.HintOf(err), s)
				}
			}
			if protocol.HintOf(err) == "" {
				t.Errorf("no hint: %v", err)
			}
			if len(blobs.blobs) != 0 {
				t.Errorf("left in the store: %v", blobs.blobs)
			}
		})
	}
}

func TestRegistryDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	l.Close()
	_, err = Resolve(t.Context(), host+"/os:v1", "amd64", patient())
	if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), host) || !strings.Contains(protocol.HintOf(err), host) {
		t.Errorf("got %v, hint %q", err, protocol.HintOf(err))
	}
}

func TestDeadline(t *testing.T) {
	r := newRegistry(t)
	r.misbehave(func(_ http.ResponseWriter, req *http.Request) bool {
		<-req.Context().Done()
		return true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Resolve(ctx, r.ref("v1"), "amd64", Options{}); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("got %v", err)
	}
}

// TestPlainHTTP: the library falls back to HTTP for private addresses; we do not.
func TestPlainHTTP(t *testing.T) {
	o := Options{PlainHTTP: []string{"10.0.0.5:5000", "registry.example"}}
	for host, want := range map[string]bool{
		"10.0.0.5:5000": true, "registry.example": true, "10.0.0.5": false, "10.0.0.6:5000": false,
		"127.0.0.1:5000": true, "[::1]:5000": true, "localhost:5000": false, "ghcr.io": false,
	} {
		if got := o.plainAllowed(host); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
	g := &guard{next: http.DefaultTransport, plainAllowed: o.plainAllowed, idle: time.Second}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://10.0.0.6:5000/v2/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := g.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(protocol.HintOf(err), "10.0.0.6:5000") {
		t.Errorf("got %v", err)
	}
}

// TestCA: a registry with a certificate of its own CA.
func TestCA(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // the wrong CA is part of the test
	s.StartTLS()
	defer s.Close()
	ref := strings.TrimPrefix(s.URL, "https://") + "/os:v1"
	opts := patient()
	if _, err := Resolve(t.Context(), ref, "amd64", opts); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(protocol.HintOf(err), "CA") {
		t.Errorf("with an unknown CA: %v, hint %q", err, protocol.HintOf(err))
	}
	opts.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if _, err := Resolve(t.Context(), ref, "amd64", opts); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("with the CA: %v", err)
	}
	opts.CA = []byte("nonsense")
	if _, err := Resolve(t.Context(), ref, "amd64", opts); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("with nonsense: %v", err)
	}
}
