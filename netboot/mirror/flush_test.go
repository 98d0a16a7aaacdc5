package mirror_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

// What a flush names goes, and nothing else: a name is meant as a whole. Once more drops
// nothing, and nothing comes back with a restart.
func TestFlushNames(t *testing.T) {
	for _, c := range []struct {
		name, what string
		gone       []string
	}{
		{"all", "", []string{"a", "dists/x", "dists/d/y", "dists-old/z"}},
		{"a repository", bubbleBase, []string{"a", "dists/x", "dists/d/y", "dists-old/z"}},
		{"what is above it", "http://origin.example/", []string{"a", "dists/x", "dists/d/y", "dists-old/z"}},
		{"a folder by its URL", bubbleBase + "/dists", []string{"dists/x", "dists/d/y"}},
		{"a folder by its path", "/pub/dists/", []string{"dists/x", "dists/d/y"}},
		{"a file", "/pub/dists/d/y", []string{"dists/d/y"}},
		{"nothing that is here", "/pub/none", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, mirror.Config{Fresh: time.Hour}, func(t *testing.T, b *bench) {
				gone := map[string]bool{}
				for _, n := range c.gone {
					gone[n] = true
				}
				all := []string{"a", "dists/x", "dists/d/y", "dists-old/z"}
				for _, n := range all {
					b.put("/pub/"+n, page{content: n, etag: `"1"`})
					b.want(n, n)
				}
				got, err := b.m.Flush(t.Context(), c.what, false)
				var bytes int64
				for _, n := range c.gone {
					bytes += int64(len(n))
				}
				if err != nil || got != (mirror.Flushed{Files: len(c.gone), Bytes: bytes}) {
					t.Fatalf("%+v, %v", got, err)
				}
				if got, err := b.m.Flush(t.Context(), c.what, false); err != nil || got != (mirror.Flushed{}) {
					t.Errorf("once more: %+v, %v", got, err)
				}
				b.restart()
				if s := b.m.State(bubbleBase); s.Files != len(all)-len(c.gone) {
					t.Errorf("after a restart: %+v", s)
				}
				b.requests()
				for _, n := range all {
					b.want(n, n)
					var asked []string
					if gone[n] {
						asked = []string{"GET /pub/" + n}
					}
					b.asks(asked...)
				}
			})
		})
	}
}

func TestFlushRefusesNames(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		for what, code := range map[string]protocol.Code{
			"/": protocol.CodeInvalid, "/a/../b": protocol.CodeInvalid, "/a//b": protocol.CodeInvalid, "/a%2fb": protocol.CodeInvalid,
			"dists": protocol.CodeInvalid, "http://u:p@origin.example/pub": protocol.CodeInvalid, "ftp://origin.example/pub": protocol.CodeInvalid,
			"http://other.example/pub": protocol.CodeNotFound, bubbleBase + "lic": protocol.CodeNotFound,
		} {
			if _, err := b.m.Flush(t.Context(), what, true); protocol.CodeOf(err) != code || protocol.HintOf(err) == "" {
				t.Errorf("%q: %v", what, err)
			}
		}
		b.asks()
	})
}

// What is cached of a repository that is away is all that boots have of it: it is dropped with
// force only, or when it answers again.
func TestFlushOfWhatIsAway(t *testing.T) {
	bubble(t, mirror.Config{Fresh: time.Hour}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "one", etag: `"1"`})
		b.want("a", "one")
		b.fallSilent()
		began := time.Now()
		got, err := b.m.Flush(t.Context(), "", false)
		if protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" || got != (mirror.Flushed{}) {
			t.Errorf("%+v, %v", got, err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("refused after %s", took)
		}
		b.want("a", "one")
		if _, err := b.m.Flush(t.Context(), "/pub/none", false); err != nil {
			t.Errorf("of what is not here: %v", err)
		}
		if got, err := b.m.Flush(t.Context(), "", true); err != nil || got != (mirror.Flushed{Files: 1, Bytes: 3}) {
			t.Errorf("by force: %+v, %v", got, err)
		}
		if _, err := b.fsys.Open("a"); protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Errorf("what was dropped is there: %v", err)
		}
	})
}

// What a boot has stays as it is: pinned files, files that are read, and what is on its way
// goes to its reader. Whoever opens it next fetches it anew.
func TestFlushUnderBoots(t *testing.T) {
	bubble(t, mirror.Config{Fresh: time.Hour}, func(t *testing.T, b *bench) {
		gate := make(chan struct{})
		b.put("/pub/kernel", page{content: "kernel 1", etag: `"1"`})
		b.put("/pub/read", page{content: "read 1", etag: `"1"`})
		b.put("/pub/coming", page{content: long(1000), etag: `"1"`, after: 10, gate: gate})
		set, err := b.m.Fetch(t.Context(), "boot", bubbleBase, []mirror.Want{{Name: "kernel"}})
		if err != nil {
			t.Fatal(err)
		}
		b.want("read", "read 1")
		held, err := b.fsys.Open("read")
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		coming, err := b.fsys.Open("coming")
		if err != nil {
			t.Fatal(err)
		}
		defer coming.Close()
		got, err := b.m.Flush(t.Context(), "", false)
		if err != nil || got != (mirror.Flushed{Files: 2, Bytes: 14, Kept: 2, KeptBytes: 14}) {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, n := range []string{"kernel", "read"} {
			b.put("/pub/"+n, page{content: n + " 2", etag: `"2"`})
		}
		b.put("/pub/coming", page{content: "another", etag: `"2"`})
		b.requests()
		want(t, set, "kernel", "kernel 1")
		if raw, err := io.ReadAll(held); err != nil || string(raw) != "read 1" {
			t.Errorf("who read it gets %q, %v", raw, err)
		}
		b.asks()
		b.want("kernel", "kernel 2")
		b.want("read", "read 2")
		b.want("coming", "another")
		close(gate) // the older one ends last
		if raw, err := io.ReadAll(coming); err != nil || string(raw) != long(1000) {
			t.Errorf("who waited for it gets %d bytes, %v", len(raw), err)
		}
		synctest.Wait() // it has ended
		b.asks("GET /pub/kernel", "GET /pub/read", "GET /pub/coming")
		b.want("coming", "another")
		b.asks()
	})
}

// A name that was absent is asked for again.
func TestFlushOfAbsence(t *testing.T) {
	bubble(t, mirror.Config{Negative: time.Hour}, func(t *testing.T, b *bench) {
		if _, err := b.fsys.Open("a"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Fatal(err)
		}
		b.put("/pub/a", page{content: "one"})
		if _, err := b.fsys.Open("a"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Fatal(err)
		}
		if _, err := b.m.Flush(t.Context(), "", false); err != nil {
			t.Fatal(err)
		}
		b.want("a", "one")
	})
}

// States say of each repository what is here, how fresh it is, how the last questions ended
// and how files were found.
func TestStates(t *testing.T) {
	below := mirror.Base{URL: bubbleBase + "/security"}
	bubble(t, mirror.Config{Fresh: time.Minute, Bases: []mirror.Base{below}}, func(t *testing.T, b *bench) {
		start := time.Now()
		b.put("/pub/a", page{content: "one", etag: `"1"`})
		b.put("/pub/b", page{content: "four", etag: `"1"`, header: http.Header{"Cache-Control": {"max-age=3600"}}})
		b.put("/pub/security/c", page{content: "secure", etag: `"1"`})
		for _, n := range []string{"a", "b", "b"} {
			b.want(n, b.pages["/pub/"+n].content)
		}
		if _, err := b.fsys.Open("none"); err == nil {
			t.Fatal("opened")
		}
		want(t, tree(t, b.m, below.URL), "c", "secure")
		time.Sleep(2 * time.Minute)
		b.want("a", "one") // is asked about
		if _, err := b.m.Fetch(t.Context(), "boot", bubbleBase, []mirror.Want{{Name: "b"}}); err != nil {
			t.Fatal(err)
		}
		answered := time.Now()
		time.Sleep(2 * time.Minute)
		b.fail(502)
		broke := time.Now()
		b.want("a", "one")

		all, used, pinned := b.m.States()
		if len(all) != 2 || used < 13 || pinned < 4 || pinned >= used || b.m.Quota() == 0 {
			t.Fatalf("%+v, %d, %d", all, used, pinned)
		}
		long, short := all[0], all[1]
		if long.Base != below.URL+"/" || long.Files != 1 || long.Bytes != 6 || long.Fresh != 0 || !long.Reachable || !long.Reached.Equal(start) || !long.Broke.IsZero() || !long.Rests.IsZero() {
			t.Errorf("%+v", long)
		}
		if short.Base != bubbleBase+"/" || short.Files != 2 || short.Bytes != 7 || short.Fresh != 1 || !short.Validated.Equal(answered) || !short.Oldest.Equal(start) {
			t.Errorf("held: %+v", short)
		}
		if short.Reachable || !short.Reached.Equal(answered) || !short.Broke.Equal(broke) || short.Code != protocol.CodeUnavailable || !short.Rests.Equal(broke.Add(15*time.Second)) {
			t.Errorf("heard: %+v", short)
		}
		if short.Opens != (mirror.Opens{Served: 4, Stale: 1, Fetched: 2, Absent: 1}) {
			t.Errorf("opened: %+v", short.Opens)
		}
		if time.Sleep(15 * time.Second); !b.m.State(bubbleBase).Rests.IsZero() {
			t.Error("it rests for ever")
		}
	})
}

// However much there is, a flush ends with its time, and says how far it came.
func TestFlushOutOfTime(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		for i := range 3 {
			n := fmt.Sprint(i)
			b.put("/pub/"+n, page{content: n})
			b.want(n, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := b.m.Flush(ctx, "", true); protocol.CodeOf(err) != protocol.CodeTimeout || got.Files != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := b.m.Flush(t.Context(), "", true); err != nil || got.Files != 3 {
			t.Errorf("again: %+v, %v", got, err)
		}
	})
}
