package mirror_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

// All that was cached works with the origin away, also after a restart (seed 004,
// with its proxy's other side away).
func TestOfflineAcrossRestart(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		for i := range 20 {
			b.put(fmt.Sprintf("/pub/d/%d", i), page{content: long(1000 + i), etag: fmt.Sprintf(`"%d"`, i)})
			b.want(fmt.Sprintf("d/%d", i), long(1000+i))
		}
		b.down()
		b.restart()
		time.Sleep(100 * time.Hour)
		for i := range 20 {
			b.want(fmt.Sprintf("d/%d", i), long(1000+i))
		}
		f, err := b.fsys.Open("d/7")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if tag := f.(interface{ ETag() string }).ETag(); tag != `"7"` {
			t.Errorf("ETag %s", tag)
		}
		s := b.m.State(bubbleBase)
		if s.Reachable || s.Files != 20 || s.Broke.IsZero() {
			t.Errorf("%+v", s)
		}
		b.up()
		if _, err := b.fsys.Open("other"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("%v", err)
		}
		if s := b.m.State(bubbleBase); !s.Reachable {
			t.Errorf("%+v", s)
		}
	})
}

func TestEviction(t *testing.T) {
	const block = 4 << 10
	bubble(t, mirror.Config{Quota: 4 * 2 * block}, func(t *testing.T, b *bench) { // 4 files of a block, each with its description
		for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
			b.put("/pub/"+n, page{content: strings.Repeat(n, block), etag: `"` + n + `"`})
		}
		b.put("/pub/huge", page{content: long(40 * block), etag: `"h"`})
		if _, err := b.m.Fetch(t.Context(), "boot", bubbleBase, []mirror.Want{{Name: "b"}}); err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"c", "a", "d"} {
			b.want(n, strings.Repeat(n, block))
		}
		held, err := b.fsys.Open("c")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		b.want("d", strings.Repeat("d", block))
		b.want("a", strings.Repeat("a", block))
		b.want("e", strings.Repeat("e", block)) // d goes: b is pinned, c is being read, a was used later
		if err := held.Close(); err != nil {
			t.Error(err)
		}
		b.down()
		b.restart()
		for n, there := range map[string]bool{"a": true, "b": true, "c": true, "d": false, "e": true} {
			f, err := b.fsys.Open(n)
			if (err == nil) != there {
				t.Errorf("%s: %v", n, err)
			}
			if err == nil {
				_ = f.Close()
			}
		}
		b.up()
		time.Sleep(time.Minute)
		_, err = b.fsys.Open("huge")
		if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "no room") || protocol.HintOf(err) == "" {
			t.Errorf("%v", err)
		}
		b.want("b", strings.Repeat("b", block))
		if s := b.m.State(bubbleBase); s.Files != 4 { // nothing was removed for it
			t.Errorf("%+v", s)
		}
	})
}

func TestMaxFile(t *testing.T) {
	bubble(t, mirror.Config{MaxFile: 100}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: long(100)})
		b.put("/pub/b", page{content: long(101)})
		b.want("a", long(100))
		if _, err := b.fsys.Open("b"); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "100 bytes") {
			t.Errorf("%v", err)
		}
		if got := append(inFolder(t, b.cfg.Dir, "t-"), inFolder(t, filepath.Join(b.cfg.Dir, "content"), "tmp-")...); got != nil {
			t.Errorf("left %q", got)
		}
	})
}

// inFolder are the cache's files that begin so.
func inFolder(t *testing.T, dir, prefix string) []string {
	t.Helper()
	got, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// allIn are all files of the cache.
func allIn(t *testing.T, dir string) (out []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// contentsIn are the cache's contents, and what is unfinished of them.
func contentsIn(t *testing.T, dir string) []string {
	t.Helper()
	return inFolder(t, filepath.Join(dir, "content"), "")
}

// What a crash or a bad disk leaves is removed, and fetched again.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func(content, entry string) error{
		"entry cut":    func(_, e string) error { return os.Truncate(e, 10) },
		"entry empty":  func(_, e string) error { return os.Truncate(e, 0) },
		"entry huge":   func(_, e string) error { return os.Truncate(e, 1<<30) },
		"content cut":  func(c, _ string) error { return errors.Join(os.Chmod(c, 0o600), os.Truncate(c, 1)) },
		"content gone": func(c, _ string) error { return os.Remove(c) },
		"entry gone":   func(_, e string) error { return os.Remove(e) },
		"entry of another": func(_, e string) error {
			return os.Rename(e, filepath.Join(filepath.Dir(e), "e-"+strings.Repeat("0", 64)))
		},
		"unfinished": func(c, e string) error {
			return errors.Join(os.WriteFile(filepath.Join(filepath.Dir(c), "tmp-1"), []byte("x"), 0o600), os.WriteFile(filepath.Join(filepath.Dir(e), "t-1"), []byte("x"), 0o600))
		},
	} {
		for _, running := range []bool{false, true} {
			if running && !strings.HasPrefix(name, "content") {
				continue
			}
			t.Run(fmt.Sprintf("%s_%v", strings.ReplaceAll(name, " ", "_"), running), func(t *testing.T) {
				bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
					b.put("/pub/a", page{content: "abc", etag: `"1"`})
					b.want("a", "abc")
					contents, entries := contentsIn(t, b.cfg.Dir), inFolder(t, b.cfg.Dir, "e-")
					if len(contents) != 1 || len(entries) != 1 {
						t.Fatalf("%q, %q", contents, entries)
					}
					if !running {
						if err := b.m.Close(); err != nil {
							t.Fatal(err)
						}
					}
					if err := damage(contents[0], entries[0]); err != nil {
						t.Fatal(err)
					}
					if !running {
						b.start()
					}
					b.want("a", "abc")
					if got := allIn(t, b.cfg.Dir); len(got) != 2 {
						t.Errorf("left %q", got)
					}
				})
			})
		}
	}
}

// An error of the own disk is not the origin's.
func TestFolderGone(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "abc", etag: `"1"`})
		if err := os.RemoveAll(b.cfg.Dir); err != nil {
			t.Fatal(err)
		}
		if _, err := b.fsys.Open("a"); protocol.CodeOf(err) != protocol.CodeUnavailable && protocol.CodeOf(err) != protocol.CodeInternal {
			t.Errorf("%v", err)
		}
		if s := b.m.State(bubbleBase); !s.Reachable {
			t.Errorf("%+v", s)
		}
	})
}

func TestNew(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := open(t, mirror.Config{Dir: dir})
	if _, err := mirror.New(mirror.Config{Dir: dir}); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("second New: %v", err)
	}
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "README")); err != nil {
		t.Error("a foreign file was removed")
	}
	for name, c := range map[string]mirror.Config{
		"no folder":     {},
		"negative":      {Dir: dir, Quota: -1},
		"queue":         {Dir: dir, Queue: -1},
		"base":          {Dir: dir, Bases: []mirror.Base{{URL: "http://h/../"}}},
		"twice":         {Dir: dir, Bases: []mirror.Base{{URL: "http://h/a"}, {URL: "http://H:80/a/"}}},
		"token and":     {Dir: dir, Bases: []mirror.Base{{URL: "http://h/a", Bearer: "t", Password: "p"}}},
		"token's form":  {Dir: dir, Bases: []mirror.Base{{URL: "http://h/a", Bearer: "t\nx"}}},
		"user's form":   {Dir: dir, Bases: []mirror.Base{{URL: "http://h/a", Username: "a:b"}}},
		"authority":     {Dir: dir, Bases: []mirror.Base{{URL: "http://h/a", CA: []byte("x")}}},
		"redirect host": {Dir: dir, Bases: []mirror.Base{{URL: "http://h/a", Hosts: []string{"http://x"}}}},
	} {
		if _, err := mirror.New(c); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
