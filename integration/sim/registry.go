package sim

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// UKIMediaType is the media type of a UKI layer.
const UKIMediaType = "application/vnd.ironcore.image.uki"

// Registry is an OCI registry in this process.
type Registry struct {
	Addr string // host:port
	srv  *http.Server
	done chan struct{}
}

// StartRegistry listens on an address.
func StartRegistry(addr string) (*Registry, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	r := &Registry{Addr: ln.Addr().String(), done: make(chan struct{}), srv: &http.Server{
		Handler: registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug))), ReadHeaderTimeout: 10 * time.Second,
	}}
	go func() {
		defer close(r.done)
		_ = r.srv.Serve(ln) // ends with Close
	}()
	return r, nil
}

// Push puts an image with one UKI under a reference "repository:tag" and returns
// the full reference.
func (r *Registry) Push(reference string, uki []byte) (string, error) {
	return r.PushLayer(reference, UKIMediaType, uki)
}

// PushLayer is Push with one layer of any media type.
func (r *Registry) PushLayer(reference, mediaType string, layer []byte) (string, error) {
	full := r.Addr + "/" + reference
	return full, Push(context.Background(), full, nil, Layer{mediaType, layer})
}

// PushHere is Push by whatever address the registry listens on, also by every one.
func (r *Registry) PushHere(ctx context.Context, reference string, uki []byte) error {
	here := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, r.Addr)
	}}
	defer here.CloseIdleConnections()
	return Push(ctx, "localhost/"+reference, here, Layer{UKIMediaType, uki})
}

// Close ends the registry.
func (r *Registry) Close() error {
	err := r.srv.Close()
	<-r.done
	return err
}

// Layer is a layer of an image as it is stored.
type Layer struct {
	MediaType string
	Content   []byte
}

// Push puts an image under a full reference at a registry that is spoken to
// without TLS: an index with one manifest, for linux/amd64. The transport is that of a
// Login.
func Push(ctx context.Context, reference string, transport http.RoundTripper, layers ...Layer) error {
	_, err := Login{Transport: transport}.Push(ctx, reference, map[string][]Layer{"amd64": layers})
	return err
}

// Login is how a registry is spoken to: without an account if there is no name, and with
// TLS where the transport has it. Without a transport a push has one of its own: the
// default one loses its connections in the middle of an upload whenever a test beside it
// ends an httptest server.
type Login struct {
	Transport          http.RoundTripper
	Username, Password string
}

// Push puts an index under a full reference, with one manifest of Linux for each
// architecture. It returns the digests of the manifests.
func (l Login) Push(ctx context.Context, reference string, platforms map[string][]Layer) (digests map[string]string, err error) {
	ref, err := name.ParseReference(reference, name.Insecure)
	if err != nil {
		return nil, err
	}
	digests = map[string]string{}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range slices.Sorted(maps.Keys(platforms)) {
		img := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
		for _, p := range platforms[arch] {
			if img, err = mutate.AppendLayers(img, static.NewLayer(p.Content, types.MediaType(p.MediaType))); err != nil {
				return nil, err
			}
		}
		digest, err := img.Digest()
		if err != nil {
			return nil, err
		}
		digests[arch] = digest.String()
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	transport := l.Transport
	if transport == nil {
		own := new(http.Transport)
		defer own.CloseIdleConnections()
		transport = own
	}
	auth := authn.Anonymous
	if l.Username != "" {
		auth = &authn.Basic{Username: l.Username, Password: l.Password}
	}
	return digests, remote.WriteIndex(ref, index, remote.WithTransport(transport), remote.WithContext(ctx), remote.WithAuth(auth))
}
