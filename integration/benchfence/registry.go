package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/integration/sim"
)

const (
	ukiType      = "application/vnd.ironcore.image.uki"
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
)

// registry is an OCI registry whose layers are made while they are read, so that
// gigabytes need neither memory nor disk here. It has a bandwidth.
type registry struct {
	addr    string
	server  *http.Server
	done    chan struct{}
	served  atomic.Int64 // bytes of layers
	limited pace

	mu    sync.Mutex
	files map[string]file // what is at a path below /v2/
}

// file is a document, or a layer of that many bytes.
type file struct {
	mediaType string
	document  []byte
	size      int64
	seed      uint64
}

// pace is a bandwidth that all readers share; 0 is none.
type pace struct {
	mu   sync.Mutex
	rate int64
	next time.Time
}

func (p *pace) set(bytesPerSecond int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate, p.next = bytesPerSecond, time.Now()
}

func (p *pace) wait(ctx context.Context, n int) {
	p.mu.Lock()
	if p.rate == 0 {
		p.mu.Unlock()
		return
	}
	if now := time.Now(); p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(time.Duration(int64(n) * int64(time.Second) / p.rate))
	until := p.next
	p.mu.Unlock()
	sleep(ctx, time.Until(until))
}

func startRegistry() (*registry, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &registry{addr: ln.Addr().String(), done: make(chan struct{}), files: map[string]file{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.done)
		_ = r.server.Serve(ln) // ends with close
	}()
	return r, nil
}

func (r *registry) close() {
	_ = r.server.Close() // nothing that it serves is wanted any more
	<-r.done
}

// add makes an image of one UKI for linux/amd64 and returns its reference.
func (r *registry) add(name string, size int64, seed uint64) (string, error) {
	h := sha256.New()
	if err := content(context.Background(), h, size, seed, nil, nil); err != nil {
		return "", err
	}
	layer := "sha256:" + hex.EncodeToString(h.Sum(nil))
	config := []byte(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":["` + layer + `"]}}`)
	manifest := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"size":%d,"digest":%q},"layers":[{"mediaType":%q,"size":%d,"digest":%q}]}`,
		manifestType, configType, len(config), digest(config), ukiType, size, layer)
	index := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"manifests":[{"mediaType":%q,"size":%d,"digest":%q,"platform":{"architecture":"amd64","os":"linux"}}]}`,
		indexType, manifestType, len(manifest), digest(manifest))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[name+"/blobs/"+layer] = file{"application/octet-stream", nil, size, seed}
	r.files[name+"/blobs/"+digest(config)] = file{mediaType: configType, document: config}
	r.files[name+"/manifests/"+digest(manifest)] = file{mediaType: manifestType, document: manifest}
	r.files[name+"/manifests/"+digest(index)] = file{mediaType: indexType, document: index}
	r.files[name+"/manifests/1"] = file{mediaType: indexType, document: index}
	return r.addr + "/" + name + ":1", nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// block is the unit of a layer: one pattern, numbered.
const block = 256 << 10

// content writes a layer. Each image's differs.
func content(ctx context.Context, w io.Writer, size int64, seed uint64, limited *pace, served *atomic.Int64) error {
	b := make([]byte, block)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // it cannot fail
	at0 := copy(b, sim.UKI(nil))               // what the hub takes it for
	for at := int64(0); at < size && ctx.Err() == nil; {
		binary.LittleEndian.PutUint64(b[at0:], seed)
		binary.LittleEndian.PutUint64(b[at0+8:], uint64(at))
		if limited != nil {
			limited.wait(ctx, block)
		}
		n, err := w.Write(b[:min(block, size-at)])
		at += int64(n)
		if served != nil {
			served.Add(int64(n))
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ServeHTTP implements what pulling takes of the distribution API.
func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := strings.TrimPrefix(req.URL.Path, "/v2/")
	if path == "" {
		return
	}
	r.mu.Lock()
	f, ok := r.files[path]
	r.mu.Unlock()
	if !ok {
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Content-Type", f.mediaType)
	size := f.size
	if f.document != nil {
		size = int64(len(f.document))
		w.Header().Set("Docker-Content-Digest", digest(f.document))
	}
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	switch {
	case req.Method == http.MethodHead:
	case f.document != nil:
		_, _ = w.Write(f.document) // the reader is gone
	default:
		_ = content(req.Context(), w, f.size, f.seed, &r.limited, &r.served) // likewise
	}
}
