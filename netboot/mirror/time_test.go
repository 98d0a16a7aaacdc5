package mirror_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

func TestRevalidation(t *testing.T) {
	bubble(t, mirror.Config{Fresh: 10 * time.Minute}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "one", etag: `"1"`})
		b.want("a", "one")
		b.asks("GET /pub/a")
		time.Sleep(10*time.Minute - time.Nanosecond)
		b.want("a", "one")
		b.asks()
		time.Sleep(time.Nanosecond)
		b.want("a", "one")
		b.asks("GET /pub/a")
		if h := b.seen[1]; h.Get("If-None-Match") != `"1"` {
			t.Errorf("asked with %v", h)
		}
		b.want("a", "one") // renewed by the 304
		b.asks()
		time.Sleep(10 * time.Minute)
		b.put("/pub/a", page{content: "two", etag: `"2"`})
		b.want("a", "two")
		time.Sleep(10 * time.Minute)
		if fi, err := fs.Stat(b.fsys, "a"); err != nil || fi.Size() != 3 {
			t.Errorf("Stat: %v, %v", fi, err)
		}
		b.asks("GET /pub/a", "HEAD /pub/a")
		b.want("a", "two") // renewed by HEAD
		b.asks()
	})
}

func TestRevalidationByDate(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "one", header: http.Header{"Cache-Control": {"max-age=5"}}})
		b.want("a", "one")
		time.Sleep(5 * time.Second)
		b.want("a", "one")
		b.asks("GET /pub/a", "GET /pub/a")
		if h := b.seen[1]; h.Get("If-Modified-Since") != lastChange || h.Get("If-None-Match") != "" {
			t.Errorf("asked with %v", h)
		}
	})
}

// A 304 leaves what identifies the file as it was, and its lifetime if it says none.
func TestRenewedKeepsItsTag(t *testing.T) {
	bubble(t, mirror.Config{Fresh: time.Hour}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "one", etag: `"1"`, header: http.Header{"Cache-Control": {"max-age=10"}}})
		b.want("a", "one")
		b.fail(304) // with nothing else
		time.Sleep(10 * time.Second)
		b.want("a", "one")
		b.want("a", "one")
		b.asks("GET /pub/a", "GET /pub/a")
		time.Sleep(10 * time.Second)
		b.fail(0)
		b.put("/pub/a", page{content: "two", etag: `"2"`})
		b.want("a", "two")
		if h := b.seen[2]; h.Get("If-None-Match") != `"1"` {
			t.Errorf("asked with %v", h)
		}
		b.fail(304)
		if _, err := b.fsys.Open("b"); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("304 to a question without a condition: %v", err)
		}
	})
}

func TestNoStore(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "one", header: http.Header{"Cache-Control": {"no-store"}}})
		b.want("a", "one")
		b.want("a", "one")
		b.asks("GET /pub/a", "GET /pub/a")
		if s := b.m.State(bubbleBase); s.Files != 0 {
			t.Errorf("%+v", s)
		}
		// A pin is a copy that somebody asked for.
		set, err := b.m.Fetch(t.Context(), "p", bubbleBase, []mirror.Want{{Name: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		want(t, set, "a", "one")
		if s := b.m.State(bubbleBase); s.Files != 0 {
			t.Errorf("it is pinned, and nothing else: %+v", s)
		}
	})
}

// What is cached outlives the origin, by every way to fail that is not an answer that the
// file is gone (RFC 9111 section 4.2.4, RFC 5861 section 4).
func TestStaleIfError(t *testing.T) {
	for name, c := range map[string]struct {
		fail  func(b *bench)
		words string
	}{
		"down":         {func(b *bench) { b.down() }, "refused"},
		"500":          {func(b *bench) { b.fail(500) }, "answers 500"},
		"502":          {func(b *bench) { b.fail(502) }, "answers 502"},
		"503":          {func(b *bench) { b.fail(503) }, "answers 503"},
		"429":          {func(b *bench) { b.fail(429) }, "answers 429"},
		"401":          {func(b *bench) { b.fail(401) }, "answers 401"},
		"no sense":     {func(b *bench) { b.fail(299) }, "answers 299"},
		"never again":  {func(b *bench) { b.fallSilent() }, "imeout"},
		"must-revalid": {func(b *bench) { b.down() }, "refused"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			bubble(t, mirror.Config{Fresh: time.Second}, func(t *testing.T, b *bench) {
				b.put("/pub/a", page{content: "one", etag: `"1"`, header: http.Header{"Cache-Control": {"must-revalidate"}}})
				b.want("a", "one")
				if s := b.m.State(bubbleBase); !s.Asked || !s.Reachable || s.Files != 1 || s.Bytes != 3 {
					t.Errorf("before: %+v", s)
				}
				time.Sleep(time.Minute)
				failed := time.Now()
				c.fail(b)
				b.want("a", "one")
				if took := time.Since(failed); took > 3*time.Second {
					t.Errorf("the older version came after %s", took)
				}
				time.Sleep(time.Minute) // until the request has failed
				s := b.m.State(bubbleBase)
				if s.Reachable || !strings.Contains(s.Why, c.words) || s.Since.Before(failed) {
					t.Errorf("after: %+v", s)
				}
				if _, err := fs.Stat(b.fsys, "a"); err != nil {
					t.Error(err)
				}
				if err := b.m.Check(t.Context(), bubbleBase, []string{"a"}); err != nil {
					t.Error(err)
				}
				if err := b.m.Check(t.Context(), bubbleBase, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "has not b") || protocol.HintOf(err) == "" {
					t.Errorf("Check of what was never there: %v", err)
				}
			})
		})
	}
}

// A host that failed is left alone for a while with what is here, so that boots do not
// wait for it; Run finds out when it is back.
func TestRest(t *testing.T) {
	bubble(t, mirror.Config{Fresh: time.Second}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "one", etag: `"1"`})
		b.want("a", "one")
		time.Sleep(time.Second)
		b.fail(503)
		for range 10 {
			b.want("a", "one")
		}
		b.asks("GET /pub/a", "GET /pub/a")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.m.Run(ctx) }()
		time.Sleep(31 * time.Second)
		b.asks("HEAD /pub/")
		b.fail(0)
		time.Sleep(30 * time.Second)
		if s := b.m.State(bubbleBase); !s.Reachable { // a 404 is an answer
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Hour)
		b.asks("HEAD /pub/")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAbsent(t *testing.T) {
	bubble(t, mirror.Config{Fresh: time.Second, Negative: 30 * time.Second}, func(t *testing.T, b *bench) {
		for range 3 {
			if _, err := b.fsys.Open("a"); !errors.Is(err, fs.ErrNotExist) || protocol.CodeOf(err) != protocol.CodeNotFound {
				t.Errorf("%v", err)
			}
			if _, err := fs.Stat(b.fsys, "a"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v", err)
			}
		}
		b.asks("GET /pub/a")
		time.Sleep(30 * time.Second)
		b.put("/pub/a", page{content: "one"})
		b.want("a", "one")
		time.Sleep(time.Second)
		b.fail(410) // it is gone, and so it is here, also when the host is
		if _, err := b.fsys.Open("a"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		b.fail(500)
		time.Sleep(time.Minute)
		if _, err := b.fsys.Open("a"); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) != "" && !strings.Contains(err.Error(), "500") {
			t.Errorf("%v", err)
		}
	})
}

// 403 is of one file: the others, and the host, are as before.
func TestDenied(t *testing.T) {
	bubble(t, mirror.Config{Fresh: time.Second}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "one"})
		b.want("a", "one")
		time.Sleep(time.Second)
		b.fail(403)
		b.want("a", "one")
		if _, err := b.fsys.Open("b"); protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "" {
			t.Errorf("%v", err)
		}
		if s := b.m.State(bubbleBase); !s.Reachable {
			t.Errorf("%+v", s)
		}
	})
}

func TestDeadlines(t *testing.T) {
	gate := make(chan struct{})
	for name, c := range map[string]struct {
		cfg    mirror.Config
		page   page
		code   protocol.Code
		within time.Duration
		opens  bool
	}{
		"no header":         {mirror.Config{Header: 7 * time.Second}, page{}, protocol.CodeTimeout, 7 * time.Second, false},
		"no byte, no range": {mirror.Config{Idle: 5 * time.Second}, page{content: "abc", after: 1, gate: gate, etag: `W/"1"`}, protocol.CodeTimeout, 5 * time.Second, true},
		"reader waits":      {mirror.Config{Wait: 4 * time.Second}, page{content: "abc", after: 1, gate: gate, etag: `W/"1"`}, protocol.CodeTimeout, 4 * time.Second, true},
		"all of it":         {mirror.Config{Overall: 3 * time.Second}, page{content: "abc", after: 1, gate: gate, etag: `"1"`}, protocol.CodeUnavailable, 3 * time.Second, true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			bubble(t, c.cfg, func(t *testing.T, b *bench) {
				c.page.gate = nil
				if c.opens {
					c.page.gate = make(chan struct{})
				}
				b.put("/pub/a", c.page)
				if !c.opens {
					b.fallSilent()
				}
				begun := time.Now()
				f, err := b.fsys.Open("a")
				if c.opens {
					if err != nil {
						t.Fatal(err)
					}
					_, err = io.ReadAll(f)
					if cerr := f.Close(); cerr != nil {
						t.Error(cerr)
					}
				}
				if protocol.CodeOf(err) != c.code || time.Since(begun) > c.within+time.Second {
					t.Errorf("after %s: %v", time.Since(begun), err)
				}
			})
		})
	}
}

// More than may be under way wait, and more than may wait are refused at once.
func TestQueue(t *testing.T) {
	bubble(t, mirror.Config{Fetches: 1, Queue: 1}, func(t *testing.T, b *bench) {
		gate := make(chan struct{})
		b.put("/pub/slow", page{content: "slow", gate: gate})
		b.put("/pub/a", page{content: "a"})
		slow, err := b.fsys.Open("slow")
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		first := make(chan error)
		go func() {
			_, err := fs.ReadFile(b.fsys, "a")
			first <- err
		}()
		synctest.Wait()
		if _, err := b.fsys.Open("b"); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "wait already") {
			t.Errorf("%v", err)
		}
		if s := b.m.State(bubbleBase); !s.Reachable {
			t.Errorf("it is not the origin's fault: %+v", s)
		}
		close(gate)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}
