package mirror_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

// A transfer that breaks off is gone on with where it was, if the file is the same.
func TestResume(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		gate, text := make(chan struct{}), long(300_000)
		b.put("/pub/a", page{content: text, etag: `"1"`, after: 100_000, gate: gate, cut: true})
		time.AfterFunc(time.Second, func() { close(gate) })
		b.want("a", text)
		b.want("a", text)
		b.asks("GET /pub/a", "GET /pub/a bytes=100000-")
		if h := b.seen[1]; h.Get("If-Range") != `"1"` {
			t.Errorf("asked with %v", h)
		}
	})
}

// dated is the header of a file that was changed long ago, at an hour.
func dated(hour int) http.Header {
	return http.Header{"Last-Modified": {time.Date(1998, 11, 21, hour, 0, 0, 0, time.UTC).Format(http.TimeFormat)}}
}

// The same by the date of the last change, if it is old enough.
func TestResumeByDate(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		gate, text := make(chan struct{}), long(300_000)
		b.put("/pub/a", page{content: text, header: dated(10), after: 100_000, gate: gate, cut: true})
		close(gate)
		b.want("a", text)
		b.asks("GET /pub/a", "GET /pub/a bytes=100000-")
	})
}

// A file that changed while it was half fetched is an error to who reads it, and whole
// to who opens it next; no read has bytes of both.
func TestChangedWhileFetched(t *testing.T) {
	old, changed := strings.Repeat("a", 300_000), strings.Repeat("b", 300_000)
	for name, c := range map[string]struct {
		first, then page
		code        protocol.Code
	}{
		"another ETag":     {page{etag: `"1"`}, page{etag: `"2"`}, protocol.CodeConflict},
		"no ETag any more": {page{etag: `"1"`}, page{}, protocol.CodeConflict},
		"weak ETag, equal": {page{etag: `W/"1"`}, page{etag: `W/"1"`}, protocol.CodeUnavailable},
		"no validator":     {page{header: http.Header{"Last-Modified": {""}}}, page{}, protocol.CodeUnavailable},
		"another date":     {page{header: dated(10)}, page{header: dated(11)}, protocol.CodeConflict},
		"date of a moment": {page{header: http.Header{"Last-Modified": {"Sat, 01 Jan 2000 00:00:00 GMT"}}}, page{}, protocol.CodeUnavailable}, // the bubble's clock
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
				gate := make(chan struct{})
				c.first.content, c.first.after, c.first.gate, c.first.cut = old, 100_000, gate, true
				c.then.content = changed
				b.put("/pub/a", c.first)
				f, err := b.fsys.Open("a")
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				b.put("/pub/a", c.then)
				close(gate)
				got, err := io.ReadAll(f)
				if protocol.CodeOf(err) != c.code || strings.Trim(string(got), "a") != "" {
					t.Errorf("%d bytes, mixed %v: %v", len(got), strings.Contains(string(got), "b"), err)
				}
				if s := b.m.State(bubbleBase); s.Reachable != (c.code == protocol.CodeConflict) {
					t.Errorf("%+v", s)
				}
				b.want("a", changed)
				b.restart()
				b.want("a", changed)
			})
		})
	}
}

// Half of an answer without a length is no file, and does not replace one.
func TestChunkedCut(t *testing.T) {
	bubble(t, mirror.Config{Fresh: time.Second}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "abcdef", chunked: true, cut: true})
		if _, err := b.fsys.Open("a"); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("%v", err)
		}
		b.put("/pub/a", page{content: "abcdef"})
		b.want("a", "abcdef")
		time.Sleep(time.Minute)
		b.put("/pub/a", page{content: "ghijkl", chunked: true, cut: true})
		b.want("a", "abcdef")
		b.down()
		b.restart()
		b.want("a", "abcdef")
	})
}

// The same for a reader that has gone past what arrived.
func TestChangedWhileFar(t *testing.T) {
	bubble(t, mirror.Config{Ahead: 1000}, func(t *testing.T, b *bench) {
		gate := make(chan struct{})
		b.put("/pub/a", page{content: strings.Repeat("a", 300_000), etag: `"1"`, after: 1000, gate: gate})
		f, err := b.fsys.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b.put("/pub/a", page{content: strings.Repeat("b", 300_000), etag: `"2"`})
		if n, err := f.(io.ReaderAt).ReadAt(make([]byte, 10), 200_000); n != 0 || protocol.CodeOf(err) != protocol.CodeConflict {
			t.Errorf("%d bytes, %v", n, err)
		}
		close(gate)
	})
}

// An origin that changes its file and breaks off all the time: whatever is read to its
// end is one version of the file.
func TestNeverTorn(t *testing.T) {
	const size, versions = 200_000, 26
	bubble(t, mirror.Config{Fresh: time.Second, Ahead: 25_000}, func(t *testing.T, b *bench) {
		rnd := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		seen := map[byte]int{}
		read := func(far bool) {
			f, err := b.fsys.Open("a")
			if err != nil {
				return
			}
			defer f.Close()
			var got []byte
			if far { // from the end to the beginning
				buf := make([]byte, size)
				for at := size - size/4; at >= 0 && err == nil; at -= size / 4 {
					_, err = f.(io.ReaderAt).ReadAt(buf[at:at+size/4], int64(at))
					if errors.Is(err, io.EOF) {
						err = nil
					}
				}
				got = buf
			} else {
				got, err = io.ReadAll(f)
			}
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if len(got) != size || strings.Trim(string(got), string(got[:1])) != "" {
				t.Errorf("torn: %d bytes that begin with %q", len(got), got[:1])
			}
			seen[got[0]]++
		}
		for v := range versions {
			gate := make(chan struct{})
			b.put("/pub/a", page{
				content: strings.Repeat(string(rune('a'+v)), size), etag: fmt.Sprintf(`"%d"`, v),
				after: rnd.IntN(size), gate: gate, cut: rnd.IntN(3) > 0,
			})
			var wg sync.WaitGroup
			for i := range 6 {
				wg.Go(func() { read(i%2 == 0) })
			}
			synctest.Wait()
			if v%2 == 0 {
				b.put("/pub/a", page{content: strings.Repeat(string(rune('A'+v)), size), etag: fmt.Sprintf(`"%dx"`, v)})
			}
			close(gate)
			wg.Wait()
			if v%5 == 0 {
				b.restart()
			}
			time.Sleep(time.Duration(rnd.IntN(3000)) * time.Millisecond)
		}
		if len(seen) < versions/2 {
			t.Errorf("of %d versions only %d were read", versions, len(seen))
		}
	})
}
