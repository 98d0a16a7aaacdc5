package daemon

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/agent/store"
)

// grown is a database whose head a test moves.
type grown struct {
	mu sync.Mutex
	at store.Anchor
}

func (g *grown) Head() store.Head {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at.Head
}

func (g *grown) Anchor() (store.Anchor, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at, nil
}

func (g *grown) write(names ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at.Head.Store = "one"
	g.at.Head.Sequence++
	g.at.Names = map[string][]string{"hold": names}
}

func anchorOf(t *testing.T, dir string) (*anchor, store.Anchor) {
	t.Helper()
	a, known, err := openAnchor(dir, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.close() })
	return a, known
}

// What is known follows the database within a second, and is exact after a stop.
func TestAnchorFollows(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a, known := anchorOf(t, dir)
		if known.Head.Sequence != 0 {
			t.Fatalf("of a new folder %+v is known", known)
		}
		db := &grown{}
		db.write("a")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- a.follow(ctx, db) }()
		synctest.Wait()
		db.write("a", "b")
		time.Sleep(anchorEvery + time.Millisecond)
		synctest.Wait()
		if _, known := anchorOf(t, dir); known.Head.Sequence != 2 || len(known.Names["hold"]) != 2 {
			t.Errorf("a second later %+v is known", known)
		}
		db.write("c")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, known := anchorOf(t, dir); known.Head.Sequence != 3 || known.Head.Store != "one" || !maps.EqualFunc(known.Names, db.at.Names, func(a, b []string) bool { return len(a) == len(b) && a[0] == b[0] }) {
			t.Errorf("after the stop %+v is known", known)
		}
	})
}

// What is damaged on both sides, or is of a newer release, is begun anew and says nothing.
func TestAnchorIsDamaged(t *testing.T) {
	for name, text := range map[string]string{"garbage": "garbage", "newer": ""} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a, _ := anchorOf(t, dir)
			db := &grown{}
			db.write("a")
			if err := a.keep(db.at); err != nil {
				t.Fatal(err)
			}
			for _, slot := range []string{".0", ".1"} {
				if text == "" {
					continue
				}
				raw := make([]byte, 200)
				copy(raw, text)
				if err := os.WriteFile(filepath.Join(dir, anchorName+slot), raw, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if text == "" {
				if err := a.pair.Write([]byte(`{"version":2}`)); err != nil {
					t.Fatal(err)
				}
			}
			again, known := anchorOf(t, dir)
			if known.Head.Sequence != 0 {
				t.Errorf("%+v is known", known)
			}
			if err := again.keep(db.at); err != nil {
				t.Fatal(err)
			}
			if _, known := anchorOf(t, dir); known.Head.Sequence != 1 {
				t.Errorf("begun anew it has %+v", known)
			}
		})
	}
}

func FuzzAnchor(f *testing.F) {
	f.Add([]byte(`{"version":1,"head":{"store":"one","sequence":3,"kinds":{"hold":{"count":1,"digest":"00112233445566778899aabbccddeeff"}}},"names":{"hold":["n1/a"]}}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if v, err := decodeAnchor(raw); err != nil && (v.Head.Sequence != 0 || v.Names != nil) {
			t.Errorf("an error, and %+v", v)
		}
	})
}
