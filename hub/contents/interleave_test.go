package contents

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

var (
	seed = flag.Uint64("contents.seed", 0, "the first seed of TestNamerAndRemover")
	runs = flag.Int("contents.runs", 60, "runs of TestNamerAndRemover, each with a seed of its own")
)

// world is a store and a bucket in which each step takes its time, so that steps of hubs come in any order. After each
// one, what is named is held against what is there.
type world struct {
	*storetest.Memory
	t *testing.T

	mu      sync.Mutex
	rand    *mathrand.Rand
	pieces  map[string]map[int]bool // by digest
	sizes   map[string]int
	named   int // judgements with a name
	passed  map[string]int
	dying   map[string]int
	stopped map[string]time.Time // until when
	lost    int                  // hubs that died
}

const worldPieces = 4

func (w *world) n(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.IntN(n)
}

// mortal is who may die: by its context, or where that is not enough its goroutine.
type mortal struct {
	name string
	end  context.CancelFunc
}

type mortalKey struct{}

func (w *world) mortal(ctx context.Context, name string) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	return context.WithValue(ctx, mortalKey{}, mortal{name, end}), end
}

// dies reports whether who asks with this context dies now.
func (w *world) dies(ctx context.Context) bool {
	who, ok := ctx.Value(mortalKey{}).(mortal)
	if !ok {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	left, dies := w.dying[who.name]
	w.dying[who.name] = left - 1
	if dies && left == 0 {
		who.end()
		return true
	}
	return false
}

// pass is told of the crash points. Each is between two steps, and who is to die does so at one of those.
func (w *world) pass(point string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed[point]++
}

// step takes a moment. Who is to die does so.
func (w *world) step(ctx context.Context) {
	if w.dies(ctx) {
		runtime.Goexit()
	}
	w.dawdle(ctx)
}

// dawdle takes a moment. Now and then a hub is stopped as a whole for about as long as a content stays that nothing names.
func (w *world) dawdle(ctx context.Context) {
	if n := w.n(2000); n < 1000 {
		time.Sleep(time.Duration(n) * time.Millisecond)
	}
	who, ok := ctx.Value(mortalKey{}).(mortal)
	if !ok {
		return
	}
	if w.n(12) == 0 {
		w.mu.Lock()
		w.stopped[who.name] = time.Now().Add(quietFor + time.Duration(w.rand.IntN(90)-15)*time.Second)
		w.mu.Unlock()
	}
	for {
		w.mu.Lock()
		left := time.Until(w.stopped[who.name])
		w.mu.Unlock()
		if left <= 0 {
			return
		}
		time.Sleep(left)
	}
}

func (w *world) Get(ctx context.Context, key string) (state.Entry, error) {
	w.step(ctx)
	return w.Memory.Get(ctx, key)
}

func (w *world) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	w.step(ctx)
	defer w.judge()
	return w.Memory.Create(ctx, key, value)
}

func (w *world) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	w.step(ctx)
	defer w.judge()
	return w.Memory.Update(ctx, key, value, revision)
}

func (w *world) Delete(ctx context.Context, key string, revision uint64) error {
	w.step(ctx)
	defer w.judge()
	return w.Memory.Delete(ctx, key, revision)
}

// Commit is called by a goroutine that commits for several: who dies in it does not learn what became of it.
func (w *world) Commit(ctx context.Context, ops []state.Op) ([]uint64, error) {
	defer w.judge()
	if !w.dies(ctx) {
		w.dawdle(ctx)
		return w.Memory.Commit(ctx, ops)
	}
	var err error
	if w.n(2) == 0 {
		_, err = w.Memory.Commit(ctx, ops)
	}
	return nil, errors.Join(context.Canceled, err)
}

// Watch brings what there is late, to every other hub very late.
func (w *world) Watch(ctx context.Context, prefix string, after uint64) (<-chan []state.Entry, error) {
	from, err := w.Memory.Watch(ctx, prefix, after)
	if err != nil {
		return nil, err
	}
	out, lag := make(chan []state.Entry), 2000+w.n(2)*60_000
	go func() {
		defer close(out)
		for change := range from {
			time.Sleep(time.Duration(w.n(lag)) * time.Millisecond)
			select {
			case out <- change:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// The bucket.

func (w *world) Ready(context.Context) error { return nil }

func (w *world) ID() string { return "bucket" }

func (w *world) Put(ctx context.Context, digest string, size int64, content io.ReaderAt, anew bool) (int64, error) {
	w.mu.Lock()
	was := map[int]bool{}
	for at := range w.pieces[digest] {
		was[at] = !anew
	}
	w.mu.Unlock()
	for at := range worldPieces {
		if was[at] {
			continue
		}
		w.step(ctx)
		if ctx.Err() != nil {
			return 0, protocol.Errorf(protocol.CodeTimeout, "put", "%w", ctx.Err())
		}
		w.mu.Lock()
		if w.pieces[digest] == nil {
			w.pieces[digest] = map[int]bool{}
		}
		w.pieces[digest][at] = true
		w.mu.Unlock()
	}
	return size, nil
}

func (w *world) Remove(ctx context.Context, digest string) error {
	for at := range worldPieces {
		w.step(ctx)
		w.mu.Lock()
		delete(w.pieces[digest], at)
		if len(w.pieces[digest]) == 0 {
			delete(w.pieces, digest)
		}
		w.mu.Unlock()
		w.judge()
	}
	return nil
}

func (w *world) Digests(context.Context) (out []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for digest := range w.pieces {
		out = append(out, digest)
	}
	return out, nil
}

func (w *world) Used(context.Context) (uint64, error) { return 0, nil }

func (w *world) Open(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return nil, protocol.Errorf(protocol.CodeUnavailable, "open", "nobody fetches here")
}

// judge: a name has its content, at each moment.
func (w *world) judge() {
	entries, _, err := w.List(context.Background(), "iso.")
	if err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range entries {
		var f resource.ISOFile
		if err := json.Unmarshal(e.Value, &f); err != nil {
			w.t.Error(err)
		}
		w.named++
		if n := len(w.pieces[f.Digest]); n < worldPieces {
			w.t.Errorf("%s is named, and %d of %d pieces are there", f.File, n, worldPieces)
		}
	}
}

// folder has one content.
type folder struct {
	path, digest string
	store        *store.Store
}

func (f folder) Has(digest string) bool { return digest == f.digest && f.path != "" }

func (f folder) OpenContent(digest string) (*os.File, int64, error) {
	if !f.Has(digest) {
		return nil, 0, protocol.Errorf(protocol.CodeNotFound, "open", "it is not here")
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	return file, info.Size(), err
}

func (f folder) Receive(context.Context, string, int64) (Receiving, error) { return nil, nil }
func (f folder) Verify(context.Context, string) error                      { return nil }

func (f folder) Named() (map[string]bool, error) {
	out := map[string]bool{}
	for _, i := range f.store.ISOs.List() {
		out[i.Digest] = true
	}
	return out, nil
}

// A content that was removed from the book ten minutes ago gets names again through two hubs, just as the hub that works
// the site removes it: in whatever order the steps of all come, however long one is stopped, and wherever the first that
// removes and the first that names die, a name never is there without its content, and at the end it is there.
func TestNamerAndRemover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "content")
	raw := []byte("some content")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
	deaths, removed, again, passed := 0, 0, 0, map[string]int{}
	for run := range *runs {
		synctest.Test(t, func(t *testing.T) {
			w := &world{
				Memory: storetest.NewMemory(), t: t, rand: mathrand.New(mathrand.NewPCG(*seed+uint64(run), 1)),
				pieces: map[string]map[int]bool{}, passed: passed, dying: map[string]int{}, stopped: map[string]time.Time{},
			}
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			hub := func(path string, works bool) *Room {
				st, err := store.Open(ctx, store.Config{KV: w, Log: w, Clock: time.Now, NewID: rand.Text})
				if err != nil {
					t.Fatal(err)
				}
				st.Units.Share()
				running.Go(func() { _ = st.Run(ctx) })
				r, err := New(Config{
					Store: st, Bucket: w, Quota: 1 << 30, Works: func() bool { return works }, Under: func(ctx context.Context) context.Context { return ctx },
					Clock: time.Now, NewID: rand.Text, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Crash: w.pass,
				})
				if err != nil {
					t.Fatal(err)
				}
				r.Serve(folder{path, digest, st})
				return r
			}
			// remover is one that works the site, until it dies or all ends.
			remover := func(name string) (done chan struct{}) {
				r, done := hub("", true), make(chan struct{})
				own, end := w.mortal(ctx, name)
				running.Go(func() {
					defer close(done)
					defer end()
					for own.Err() == nil {
						records := r.cfg.Store.Contents.List()
						named, err := r.shelves[0].Named()
						if err != nil {
							t.Error(err)
						}
						r.remove(own, records, named)
						select {
						case <-time.After(15 * time.Second):
						case <-own.Done():
						}
					}
				})
				return done
			}
			// namer gives the content a name, and says whether it did before it died.
			namer := func(name, file string) <-chan bool {
				r, named := hub(path, false), make(chan bool, 1)
				own, end := w.mortal(ctx, name)
				running.Go(func() {
					did := false
					defer func() { named <- did }()
					defer end()
					for try := 0; !did && own.Err() == nil; try++ {
						c, err := r.Keep(own, digest)
						if err == nil {
							have, _ := r.cfg.Store.ISOs.Get(file) // of who died with it
							row := store.ISO{Revision: have.Revision, ISOFile: resource.ISOFile{File: file, Digest: digest, Size: int64(len(raw))}}
							err = r.cfg.Store.ISOs.PutKept(own, &row, &c)
						}
						if did = err == nil; !did && try > 200 {
							t.Errorf("it is never named: %v", err)
							return
						}
						if !did {
							time.Sleep(time.Second)
						}
					}
				})
				return named
			}
			// An earlier life: it is whole, and nothing has named it for about as long as it may stay.
			before := hub(path, false)
			if _, err := before.Keep(ctx, digest); err != nil {
				t.Fatal(err)
			}
			if w.n(2) == 0 {
				w.mu.Lock()
				w.dying["remover 1"] = w.rand.IntN(30)
				w.mu.Unlock()
			}
			first := remover("remover 1")
			running.Go(func() {
				<-first
				if ctx.Err() == nil {
					w.mu.Lock()
					w.lost++
					w.mu.Unlock()
					remover("remover 2")
				}
			})
			time.Sleep(quietFor - time.Minute + time.Duration(w.n(180))*time.Second)
			was, err := before.cfg.Store.Contents.Newest(ctx, digest)
			if err != nil {
				t.Fatal(err)
			}
			if w.n(2) == 0 {
				w.mu.Lock()
				w.dying["namer 1"] = w.rand.IntN(16)
				w.mu.Unlock()
			}
			one := namer("namer 1", "a.iso")
			time.Sleep(time.Duration(w.n(900)) * time.Second)
			other := namer("namer 2", "b.iso")
			if !<-one {
				w.mu.Lock()
				w.lost++
				w.mu.Unlock()
				<-namer("namer 3", "a.iso")
			}
			<-other
			time.Sleep(3 * quietFor) // nobody removes what is named
			w.judge()
			now, err := before.cfg.Store.Contents.Newest(ctx, digest)
			if err != nil || now.State != store.ContentWhole {
				t.Errorf("run %d: at the end the record is %+v, %v", run, now, err)
			}
			if now.ID != was.ID || was.Revision == 0 { // another life
				removed++
			} else {
				again++
			}
			if w.named == 0 {
				t.Error("nothing was judged")
			}
			deaths += w.lost
			stop()
			running.Wait()
		})
		if t.Failed() {
			t.Fatalf("again with -contents.seed=%d -contents.runs=1", *seed+uint64(run))
		}
	}
	t.Logf("%d runs: %d deaths, %d times it was removed meanwhile, %d times it was not", *runs, deaths, removed, again)
	for _, point := range []string{"coming", "sent", "whole", "doomed", "removed"} {
		if *runs >= 50 && passed["hub.content."+point] == 0 {
			t.Errorf("hub.content.%s was never passed", point)
		}
	}
	if *runs >= 50 && (deaths == 0 || removed == 0 || again == 0) {
		t.Error("one of these never happened: the runs do not show what they are to show")
	}
}

var _ Bucket = (*world)(nil)
