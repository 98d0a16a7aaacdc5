package registry

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/contents"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/state"
)

// servers are those of a store: its keys, and contents.
type servers struct {
	*storetest.Memory
	t *testing.T

	mu      sync.Mutex
	slow    *mathrand.Rand // each step takes its time; nil is none
	content map[string][]byte
	down    error
}

func newServers(t *testing.T) *servers {
	return &servers{Memory: storetest.NewMemory(), t: t, content: map[string][]byte{}}
}

func (s *servers) dawdle() {
	s.mu.Lock()
	long := time.Duration(0)
	if s.slow != nil {
		long = time.Duration(s.slow.IntN(100)) * time.Millisecond
	}
	s.mu.Unlock()
	time.Sleep(long)
}

func (s *servers) Get(ctx context.Context, key string) (state.Entry, error) {
	s.dawdle()
	return s.Memory.Get(ctx, key)
}

func (s *servers) Commit(ctx context.Context, ops []state.Op) ([]uint64, error) {
	s.dawdle()
	return s.Memory.Commit(ctx, ops)
}

func (s *servers) Delete(ctx context.Context, key string, revision uint64) error {
	s.dawdle()
	return s.Memory.Delete(ctx, key, revision)
}

func (s *servers) broken(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

// damage makes something else of a content.
func (s *servers) damage(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.content[digest]) == 0 {
		s.t.Fatalf("%s is not there", digest)
	}
	s.content[digest] = bytes.Repeat([]byte("x"), len(s.content[digest]))
}

func (s *servers) has() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.content)
}

// The bucket.

// seat is the bucket as one hub knows it: before it has looked it knows nothing.
type seat struct {
	*servers
	looked atomic.Bool
}

func (s *seat) Ready(context.Context) error {
	s.looked.Store(true)
	return nil
}

func (s *seat) ID() string {
	if !s.looked.Load() {
		return ""
	}
	return "bucket"
}

func (s *servers) Put(_ context.Context, digest string, size int64, content io.ReaderAt, anew bool) (int64, error) {
	raw := make([]byte, size)
	if _, err := content.ReadAt(raw, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return 0, s.down
	}
	if _, there := s.content[digest]; !there || anew {
		s.content[digest] = raw
	}
	return size, nil
}

func (s *servers) Open(_ context.Context, digest string, _, offset int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return nil, s.down
	}
	return io.NopCloser(bytes.NewReader(s.content[digest][offset:])), nil
}

func (s *servers) Remove(_ context.Context, digest string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.content, digest)
	return nil
}

func (s *servers) Digests(context.Context) (out []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for digest := range s.content {
		out = append(out, digest)
	}
	return out, nil
}

func (s *servers) Used(context.Context) (n uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, raw := range s.content {
		n += uint64(len(raw))
	}
	return n, nil
}

// peer is a hub with its registry.
type peer struct {
	*Registry
	t     *testing.T
	store *store.Store
	log   *bytes.Buffer
	kill  func()
}

type peerOptions struct {
	works  bool // the site
	bare   bool // without a registry
	folder bool // its store is in its folder now
	quota  int64
}

// hub starts one; it ends with the test, or before with kill.
func (s *servers) hub(dir string, o peerOptions) *peer {
	t := s.t
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	st, err := store.Open(ctx, store.Config{KV: s, Log: s, Clock: time.Now, NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	st.Units.Share()
	p := &peer{t: t, store: st, log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(&guarded{to: p.log}, nil))
	if o.quota == 0 {
		o.quota = quota
	}
	room, err := contents.New(contents.Config{
		Store: st, Bucket: &seat{servers: s}, Quota: o.quota, Needed: st.Repositories.Needed, Works: func() bool { return o.works },
		Under: func(ctx context.Context) context.Context { return ctx }, Clock: time.Now, NewID: rand.Text, Logger: log, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = st.Run(ctx) })
	p.kill = sync.OnceFunc(func() {
		stop()
		running.Wait()
		if p.Registry != nil {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(p.kill)
	if o.bare {
		running.Go(func() { _ = room.Run(ctx) })
		return p
	}
	conf := Config{
		Dir: dir, Quota: quota, Clock: time.Now, Logger: log, Right: func(*http.Request) (Caller, Right) { return Caller{Name: "somebody"}, Push },
		Shared: &Shared{Book: st.Repositories, Contents: st.Contents, Depot: room},
	}
	if o.folder {
		conf.Shared, conf.Former = nil, st.Repositories
	}
	if p.Registry, err = Open(conf); err != nil {
		t.Fatal(err)
	}
	room.Serve(p.Shelf())
	if !o.folder {
		running.Go(func() { _ = room.Run(ctx) })
	}
	running.Go(func() { _ = p.Run(ctx) })
	return p
}

// guarded is a writer for several.
type guarded struct {
	mu sync.Mutex
	to io.Writer
}

func (g *guarded) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.to.Write(b)
}

func (p *peer) ask(method, path, kind, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(p.t.Context(), method, path, strings.NewReader(body))
	req.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	p.ServeHTTP(w, req)
	return w
}

func (p *peer) want(status int, method, path, kind, body string) *httptest.ResponseRecorder {
	p.t.Helper()
	w := p.ask(method, path, kind, body)
	if w.Code != status {
		p.t.Errorf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, status)
	}
	return w
}

func (p *peer) blob(content string) string {
	p.t.Helper()
	p.want(http.StatusCreated, http.MethodPost, "/v2/os/blobs/uploads/?digest="+digestOf(content), "", content)
	return digestOf(content)
}

func (p *peer) image(tag, layer string) (manifest string) {
	p.t.Helper()
	m := manifestOf(p.blob("{}"), p.blob(layer))
	p.want(http.StatusCreated, http.MethodPut, "/v2/os/manifests/"+tag, typeManifest, m)
	return m
}

// has says that an image is pulled as it was pushed.
func (p *peer) has(tag, manifest, layer string) {
	p.t.Helper()
	if w := p.want(http.StatusOK, http.MethodGet, "/v2/os/manifests/"+tag, "", ""); w.Body.String() != manifest || w.Header().Get("Content-Type") != typeManifest {
		p.t.Errorf("%s is %s", tag, w.Body)
	}
	if w := p.want(http.StatusOK, http.MethodGet, "/v2/os/blobs/"+digestOf(layer), "", ""); w.Body.String() != layer {
		p.t.Errorf("the layer of %s is %.100s", tag, w.Body)
	}
}

// What was pushed through one hub is pulled from another at once, also when the first is dead; the other one's tags are
// those, and who pushes there need not send it.
func TestOneRegistryOfTwoHubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		a, b := s.hub(t.TempDir(), peerOptions{}), s.hub(t.TempDir(), peerOptions{})
		m := a.image("1", "a layer")
		synctest.Wait()
		if w := b.want(http.StatusOK, http.MethodHead, "/v2/os/blobs/"+digestOf("a layer"), "", ""); w.Header().Get("Content-Length") != "7" {
			t.Errorf("the size is %q", w.Header().Get("Content-Length"))
		}
		if b.blobs.Has(digestOf("a layer")) {
			t.Error("it was fetched before anybody could see it lacking")
		}
		a.kill()
		begun := time.Now()
		b.has("1", m, "a layer")
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
		if w := b.want(http.StatusOK, http.MethodGet, "/v2/os/tags/list", "", ""); !strings.Contains(w.Body.String(), `["1"]`) {
			t.Errorf("%s", w.Body)
		}
		b.want(http.StatusCreated, http.MethodPut, "/v2/os/manifests/2", typeManifest, m)
		b.has("2", m, "a layer")
	})
}

// A push through one hub is ended through another: what the first took is on the servers.
func TestPushThroughTwoHubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		a, b := s.hub(t.TempDir(), peerOptions{}), s.hub(t.TempDir(), peerOptions{})
		m := manifestOf(a.blob("{}"), a.blob("a layer"))
		a.kill()
		b.want(http.StatusCreated, http.MethodPut, "/v2/os/manifests/1", typeManifest, m)
		b.has("1", m, "a layer")
	})
}

// A push that is cut off leaves nothing in the book of any hub, whatever had come; given again it is done.
func TestPushIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		a, b := s.hub(t.TempDir(), peerOptions{}), s.hub(t.TempDir(), peerOptions{})
		m := manifestOf(a.blob("{}"), a.blob("a layer"))
		s.broken(protocol.Errorf(protocol.CodeUnavailable, "put", "the servers are gone"))
		w := a.want(http.StatusServiceUnavailable, http.MethodPost, "/v2/os/blobs/uploads/?digest="+digestOf("more"), "", "more")
		if w.Header().Get("Retry-After") == "" {
			t.Error("nobody says when to try again")
		}
		a.want(http.StatusServiceUnavailable, http.MethodPut, "/v2/os/manifests/1", typeManifest, m)
		synctest.Wait()
		for _, p := range []*peer{a, b} {
			p.want(http.StatusNotFound, http.MethodGet, "/v2/os/manifests/1", "", "")
			p.want(http.StatusNotFound, http.MethodGet, "/v2/os/manifests/"+digestOf(m), "", "")
		}
		s.broken(nil)
		b.want(http.StatusBadRequest, http.MethodPut, "/v2/os/manifests/1", typeManifest, manifestOf(digestOf("{}"), digestOf("never sent")))
		a.want(http.StatusCreated, http.MethodPut, "/v2/os/manifests/1", typeManifest, m)
		synctest.Wait()
		b.has("1", m, "a layer")
	})
}

// A blob that the servers have damaged is served by nobody who has not got it, and is put there anew by the hub that has it.
func TestDamagedOnTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		a := s.hub(t.TempDir(), peerOptions{})
		m := a.image("1", "a layer")
		s.damage(digestOf("a layer"))
		b := s.hub(t.TempDir(), peerOptions{})
		time.Sleep(time.Second)
		if w := b.ask(http.MethodGet, "/v2/os/blobs/"+digestOf("a layer"), "", ""); w.Code == http.StatusOK && w.Body.String() != "a layer" {
			t.Errorf("it serves %s", w.Body)
		}
		time.Sleep(time.Minute)
		b.has("1", m, "a layer")
	})
}

// While the servers do not answer, a pull of what is not here says that it is to come again.
func TestPullWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		a := s.hub(t.TempDir(), peerOptions{})
		m := a.image("1", "a layer")
		s.broken(protocol.Errorf(protocol.CodeUnavailable, "open", "the servers are gone"))
		b := s.hub(t.TempDir(), peerOptions{})
		begun := time.Now()
		w := b.want(http.StatusServiceUnavailable, http.MethodGet, "/v2/os/manifests/1", "", "")
		if took := time.Since(begun); took > openWait+time.Second || w.Header().Get("Retry-After") == "" {
			t.Errorf("it took %s, Retry-After %q", took, w.Header().Get("Retry-After"))
		}
		s.broken(nil)
		time.Sleep(time.Minute)
		b.has("1", m, "a layer")
	})
}

// What no image names goes from the servers and from all folders, also by a hub that has no registry; what one names stays.
func TestWhatNobodyNamesGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		a, b := s.hub(t.TempDir(), peerOptions{}), s.hub(t.TempDir(), peerOptions{})
		works := s.hub("", peerOptions{bare: true, works: true})
		m := a.image("1", "a layer")
		time.Sleep(2 * keepFor)
		synctest.Wait()
		if s.has() != 3 || strings.Contains(works.log.String(), "removed from the servers") {
			t.Fatalf("the servers have %d; the hub that works says %s", s.has(), works.log)
		}
		b.has("1", m, "a layer")
		b.want(http.StatusAccepted, http.MethodDelete, "/v2/os/manifests/"+digestOf(m), "", "")
		synctest.Wait()
		a.want(http.StatusNotFound, http.MethodGet, "/v2/os/manifests/1", "", "")
		time.Sleep(2 * keepFor)
		if s.has() != 0 || len(a.blobs.Digests()) != 0 || len(b.blobs.Digests()) != 0 {
			t.Errorf("left: %d on the servers, %v, %v", s.has(), a.blobs.Digests(), b.blobs.Digests())
		}
	})
}

// The servers' room is a bound with words.
func TestServersAreFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		a := s.hub(t.TempDir(), peerOptions{quota: 10})
		w := a.want(http.StatusInsufficientStorage, http.MethodPost, "/v2/os/blobs/uploads/?digest="+digestOf("eleven char"), "", "eleven char")
		if !strings.Contains(w.Body.String(), "NATS servers") {
			t.Errorf("%s", w.Body)
		}
	})
}

// One hub deletes an image while another tags it, and an index comes while what it names is deleted: in whatever order the
// steps come, one of the two is last, and nothing dangles.
func TestTwoHubsChangeOne(t *testing.T) {
	stayed, went, refused := 0, 0, 0
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			s := newServers(t)
			a, b := s.hub(t.TempDir(), peerOptions{}), s.hub(t.TempDir(), peerOptions{})
			m := a.image("1", "a layer")
			index := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"manifests":[{"digest":%q}]}`, typeIndex, digestOf(m))
			s.mu.Lock()
			s.slow = mathrand.New(mathrand.NewPCG(seed, 1))
			s.mu.Unlock()
			var both sync.WaitGroup
			both.Go(func() {
				time.Sleep(time.Duration(seed%7) * 40 * time.Millisecond)
				if w := a.ask(http.MethodDelete, "/v2/os/manifests/"+digestOf(m), "", ""); w.Code == http.StatusConflict {
					refused++
				} else if w.Code != http.StatusAccepted {
					t.Errorf("the deletion: %d %s", w.Code, w.Body)
				}
			})
			both.Go(func() {
				if seed%2 == 0 {
					b.want(http.StatusCreated, http.MethodPut, "/v2/os/manifests/2", typeManifest, m)
				} else if w := b.ask(http.MethodPut, "/v2/os/manifests/2", typeIndex, index); w.Code != http.StatusCreated && w.Code != http.StatusBadRequest {
					t.Errorf("the index: %d %s", w.Code, w.Body)
				}
			})
			both.Wait()
			synctest.Wait()
			r, err := a.store.Repositories.Newest(t.Context(), "os")
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Manifests) > 0 {
				stayed++
			} else {
				went++
			}
			for tag, digest := range r.Tags {
				if _, there := r.Manifests[digest]; !there {
					t.Errorf("seed %d: tag %s dangles", seed, tag)
				}
			}
			for digest, m := range r.Manifests {
				for _, n := range append(slices.Clone(m.Names), digest) {
					if _, there := r.Manifests[n]; m.Type == typeIndex && !there {
						t.Errorf("seed %d: an index dangles", seed)
					}
					if c, err := a.store.Contents.Newest(t.Context(), n); err != nil || c.State != store.ContentWhole {
						t.Errorf("seed %d: %s is %+v, %v", seed, n, c, err)
					}
				}
			}
		})
	}
	t.Logf("it stayed %d times, went %d times, and the deletion was refused %d times", stayed, went, refused)
	if stayed == 0 || went == 0 || refused == 0 {
		t.Error("one of these never happened")
	}
}

// Hubs that had books of their own bring them into that of all: what the store has of a tag stays, what is damaged is left
// out, what was not done is gone on with, and it is done once.
func TestBooksAreMoved(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	mine, theirs := "", ""
	t.Run("before", func(t *testing.T) {
		b := newBench(t, one)
		mine = b.image("1", "mine")
		b.image("only", "of one")
		broken := b.image("broken", "damaged")
		index := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"manifests":[{"digest":%q}]}`, typeIndex, digestOf(mine))
		if a := b.ask("push", http.MethodPut, "/v2/os/manifests/index", typeIndex, index); a.status != http.StatusCreated {
			t.Fatalf("%+v", a)
		}
		if err := os.Remove(filepath.Join(one, "blobs", strings.TrimPrefix(digestOf("damaged"), "sha256:"))); err != nil {
			t.Fatal(err)
		}
		_ = broken
		theirs = newBench(t, other).image("1", "theirs")
	})
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		b := s.hub(other, peerOptions{})
		synctest.Wait()
		b.has("1", theirs, "theirs")
		s.broken(protocol.Errorf(protocol.CodeUnavailable, "put", "the servers are gone"))
		a := s.hub(one, peerOptions{})
		time.Sleep(time.Second)
		a.kill()
		s.broken(nil)
		a = s.hub(one, peerOptions{})
		time.Sleep(10 * time.Second)
		for _, p := range []*peer{a, b} {
			p.has("1", theirs, "theirs")
			p.has(digestOf(mine), mine, "mine")
			p.want(http.StatusOK, http.MethodGet, "/v2/os/manifests/only", "", "")
			p.want(http.StatusOK, http.MethodGet, "/v2/os/manifests/index", "", "")
			p.want(http.StatusNotFound, http.MethodGet, "/v2/os/manifests/broken", "", "")
		}
		if log := a.log.String(); !strings.Contains(log, "tag=1") || !strings.Contains(log, "is not in the registry of all hubs") {
			t.Errorf("the log is %s", log)
		}
		was, err := readBook(one)
		if err != nil || len(was.Repositories) != 0 {
			t.Errorf("the folder still has %+v, %v", was, err)
		}
		if _, err := os.Stat(filepath.Join(one, movedFile)); err != nil {
			t.Error(err)
		}
		b.want(http.StatusAccepted, http.MethodDelete, "/v2/os/manifests/only", "", "")
		a.kill()
		a = s.hub(one, peerOptions{})
		time.Sleep(10 * time.Second)
		a.want(http.StatusNotFound, http.MethodGet, "/v2/os/manifests/only", "", "")

		a.kill()
		b.kill()
		back := s.hub(one, peerOptions{folder: true}) // the store was moved to its folder
		time.Sleep(time.Second)
		back.has("1", theirs, "theirs")
		if left, err := back.store.Repositories.List(); err != nil || len(left) != 0 {
			t.Errorf("the store still has %+v, %v", left, err)
		}
	})
}

// late is a depot of which a content is doomed by another hub once, just after it was kept.
type late struct {
	Depot
	digest string
	doom   func()
}

func (l *late) Keep(ctx context.Context, digest string) (store.Content, error) {
	c, err := l.Depot.Keep(ctx, digest)
	if doom := l.doom; err == nil && digest == l.digest && doom != nil {
		l.doom = nil
		doom()
	}
	return c, err
}

// A blob that another hub begins to remove, just before the manifest is in the book, is on the servers when it is.
func TestRemoverIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers(t)
		a, other := s.hub(t.TempDir(), peerOptions{}), s.hub("", peerOptions{bare: true, works: true})
		m := manifestOf(a.blob("{}"), a.blob("a layer"))
		layer := digestOf("a layer")
		a.cfg.Shared.Depot = &late{a.cfg.Shared.Depot, layer, func() {
			c, err := other.store.Contents.Newest(t.Context(), layer)
			if err != nil {
				t.Fatal(err)
			}
			c.State = store.ContentGoing
			if err := other.store.Contents.Put(t.Context(), &c); err != nil {
				t.Fatal(err)
			}
		}}
		a.want(http.StatusCreated, http.MethodPut, "/v2/os/manifests/1", typeManifest, m)
		c, err := other.store.Contents.Newest(t.Context(), layer)
		if err != nil || c.State != store.ContentWhole || s.has() != 3 {
			t.Errorf("the manifest is in the book, and the layer is %+v, %v", c, err)
		}
	})
}
