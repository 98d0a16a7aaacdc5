package mirror_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot/mirror"
)

// All who want a file share one fetch, and read what has arrived while it goes on.
func TestSingleFlight(t *testing.T) {
	o, gate, text := newOrigin(), make(chan struct{}), long(200_000)
	o.put("/a", page{content: text, etag: `"1"`, after: 1000, gate: gate})
	s := serve(t, o)
	m := open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL}}})
	fsys := tree(t, m, s.URL)
	var wg, begun sync.WaitGroup
	begun.Add(20)
	for range 20 {
		wg.Go(func() {
			f, err := fsys.Open("a")
			if err != nil {
				t.Error(err)
				begun.Done()
				return
			}
			defer f.Close()
			head := make([]byte, 1000)
			_, err = io.ReadFull(f, head)
			begun.Done() // before the rest may come
			rest, rerr := io.ReadAll(f)
			if got := append(head, rest...); err != nil || rerr != nil || string(got) != text {
				t.Errorf("%d bytes, %v, %v", len(got), err, rerr)
			}
		})
	}
	begun.Wait()
	close(gate)
	wg.Wait()
	if got := o.requests(); !slices.Equal(got, []string{"GET /a"}) {
		t.Errorf("asked %q", got)
	}
}

// A range that is far from what has arrived goes past; one that is near waits.
func TestFarRange(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	bubble(t, mirror.Config{Ahead: 10_000, Idle: time.Minute, Registerer: reg}, func(t *testing.T, b *bench) {
		gate, text := make(chan struct{}), long(1<<20)
		b.put("/pub/a", page{content: text, etag: `"1"`, after: 1000, gate: gate})
		f, err := b.fsys.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		at := func(off, n int) {
			t.Helper()
			buf := make([]byte, n)
			got, err := f.(io.ReaderAt).ReadAt(buf, int64(off))
			if err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(buf[:got], []byte(text[off:min(off+n, len(text))])) {
				t.Errorf("%d bytes at %d: %v", got, off, err)
			}
		}
		begun := time.Now()
		at(500_000, 1000)
		at(501_000, 1000) // of the same request
		at(0, 1000)       // has arrived
		at(502_000, 1000)
		at(1<<20-10, 100) // another
		if took := time.Since(begun); took != 0 {
			t.Errorf("it waited %s", took)
		}
		b.asks("GET /pub/a", "GET /pub/a bytes=500000-", "GET /pub/a bytes=1048566-")
		if _, err := f.(io.Seeker).Seek(700_000, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := io.CopyN(&got, f, 100_000); err != nil || got.String() != text[700_000:800_000] {
			t.Errorf("%d bytes, %v", got.Len(), err)
		}
		b.asks("GET /pub/a bytes=700000-")
		near := make(chan bool)
		go func() { at(5_000, 1000); near <- true }()
		synctest.Wait()
		b.asks()
		time.AfterFunc(time.Second, func() { close(gate) })
		<-near
		synctest.Wait() // all has arrived
		at(600_000, 1000)
		b.asks()
		underWay(t, reg, 0)
	})
}

// A request of a reader's own that it does not use is given up, with its place.
func TestFarRangeIdle(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	bubble(t, mirror.Config{Ahead: 1000, Idle: 20 * time.Second, Registerer: reg}, func(t *testing.T, b *bench) {
		text := long(300_000)
		b.put("/pub/a", page{content: text, etag: `"1"`, after: 1000, gate: make(chan struct{})})
		f, err := b.fsys.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for i := range 2 {
			buf := make([]byte, 10)
			if _, err := f.(io.ReaderAt).ReadAt(buf, 200_000+10*int64(i)); err != nil || string(buf) != text[200_000+10*i:][:10] {
				t.Errorf("%q, %v", buf, err)
			}
			underWay(t, reg, 2)
			time.Sleep(10 * time.Second)
		}
		b.fail(503) // the fetch, which gets no byte either, tries for a while
		time.Sleep(11 * time.Second)
		underWay(t, reg, 1)
	})
}

// underWay compares how many requests are under way.
func underWay(t *testing.T, reg *prometheus.Registry, n int) {
	t.Helper()
	text := fmt.Sprintf(`
# HELP rackboot_mirror_requests_in_flight Requests to package repositories under way.
# TYPE rackboot_mirror_requests_in_flight gauge
rackboot_mirror_requests_in_flight %d
`, n)
	if err := testutil.GatherAndCompare(reg, strings.NewReader(text), "rackboot_mirror_requests_in_flight"); err != nil {
		t.Error(err)
	}
}

// A server without ranges makes readers wait.
func TestNoRanges(t *testing.T) {
	bubble(t, mirror.Config{Ahead: 1000, Wait: 5 * time.Second}, func(t *testing.T, b *bench) {
		gate, text := make(chan struct{}), long(100_000)
		b.put("/pub/a", page{content: text, etag: `"1"`, after: 1000, gate: gate, header: map[string][]string{"Accept-Ranges": {"none"}}})
		f, err := b.fsys.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		time.AfterFunc(time.Second, func() { close(gate) })
		buf := make([]byte, 100)
		if _, err := f.(io.ReaderAt).ReadAt(buf, 50_000); err != nil || string(buf) != text[50_000:50_100] {
			t.Error(err)
		}
		b.asks("GET /pub/a")
	})
}

// An answer without a length has its size when it is whole.
func TestChunked(t *testing.T) {
	bubble(t, mirror.Config{MaxFile: 3 << 20}, func(t *testing.T, b *bench) {
		text := long(5 << 19) // more than one growth of its room
		b.put("/pub/a", page{content: text, chunked: true})
		if fi, err := fs.Stat(b.fsys, "a"); err != nil || fi.Size() != int64(len(text)) {
			t.Errorf("%v, %v", fi, err)
		}
		b.want("a", text)
		b.put("/pub/b", page{content: long(7 << 19), chunked: true})
		if _, err := b.fsys.Open("b"); err == nil {
			t.Error("one that is too large was opened")
		}
	})
}

// Who closes does not end the fetch; the cache has it.
func TestReaderGoes(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		gate := make(chan struct{})
		b.put("/pub/a", page{content: "abc", etag: `"1"`, after: 1, gate: gate})
		f, err := b.fsys.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan error)
		go func() { _, err := io.ReadAll(f); read <- err }()
		synctest.Wait()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := <-read; err == nil {
			t.Error("a read of what was closed ended well")
		}
		if _, err := f.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Read: %v", err)
		}
		if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		close(gate)
		synctest.Wait()
		b.down()
		b.want("a", "abc")
	})
}

// What nobody may keep is not fetched on for nobody.
func TestReaderOfNoStoreGoes(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "abc", etag: `"1"`, after: 1, gate: make(chan struct{}), header: map[string][]string{"Cache-Control": {"no-store"}}})
		f, err := b.fsys.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got := allIn(t, b.cfg.Dir); got != nil {
			t.Errorf("left %q", got)
		}
		b.put("/pub/a", page{content: "abc"})
		b.want("a", "abc")
	})
}

// Close of the mirror ends what waits.
func TestCloseEndsReads(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "abc", etag: `"1"`, after: 1, gate: make(chan struct{})})
		f, err := b.fsys.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		time.AfterFunc(time.Second, func() { _ = b.m.Close() })
		if _, err := io.ReadAll(f); err == nil {
			t.Error("it ended well")
		}
		if _, err := b.fsys.Open("b"); err == nil {
			t.Error("a closed mirror opens files")
		}
	})
}
