package store

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/state"
	"rackboot/state/badger"
)

// Whatever is done to the files of an agent's database, it is noticed: the database does not
// open, cannot be read, or is found wanting against its own head and what was known of it. What is
// not noticed did no harm: everything is there as it was.
func TestDamagedFilesAreNoticed(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "state")
	known, content := builtDatabase(t, whole)
	damages := map[string]func(t *testing.T, path string, size int64){
		"gone":             func(t *testing.T, path string, _ int64) { must(t, os.Remove(path)) },
		"empty":            func(t *testing.T, path string, _ int64) { must(t, os.Truncate(path, 0)) },
		"cut in half":      func(t *testing.T, path string, n int64) { must(t, os.Truncate(path, n/2)) },
		"cut by a byte":    func(t *testing.T, path string, n int64) { must(t, os.Truncate(path, n-1)) },
		"first flipped":    func(t *testing.T, path string, n int64) { flipAt(t, path, 0) },
		"one flipped":      func(t *testing.T, path string, n int64) { flipAt(t, path, dice.Int64N(n)) },
		"fifty flipped":    func(t *testing.T, path string, n int64) { flipAt(t, path, some(n, 50)...) },
		"begin flipped":    func(t *testing.T, path string, n int64) { flipAt(t, path, min(n-1, 33), min(n-1, 70)) },
		"last flipped":     func(t *testing.T, path string, n int64) { flipAt(t, path, n-1) },
		"zeros":            func(t *testing.T, path string, n int64) { must(t, os.WriteFile(path, make([]byte, n), 0o600)) },
		"zeros at its end": func(t *testing.T, path string, n int64) { zeroFrom(t, path, n/2, n) },
	}
	noticed := map[string]int{}
	files := 0
	for _, path := range list(t, whole) {
		kind := strings.TrimLeft(filepath.Ext(path), ".")
		if kind == "" {
			kind = filepath.Base(path)
		}
		if kind == "LOCK" {
			continue
		}
		info, err := os.Stat(path)
		must(t, err)
		size := info.Size()
		files++
		for name, damage := range damages {
			t.Run(kind+" "+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "state")
				must(t, os.CopyFS(dir, os.DirFS(whole)))
				hurt := filepath.Join(dir, filepath.Base(path))
				damage(t, hurt, size)
				why := notice(t, dir, known, content)
				if why != "" {
					noticed[kind]++
				}
				t.Logf("noticed: %q", why)
			})
		}
	}
	for _, kind := range []string{"sst", "MANIFEST"} {
		if noticed[kind] == 0 {
			t.Errorf("of %d files, damage to no %s was noticed", files, kind)
		}
	}
}

// notice returns how damage was noticed; empty if it was not, and then nothing may be missing.
func notice(t *testing.T, dir string, known Anchor, content map[string]string) (how string) {
	t.Helper()
	db, err := badger.Open(badger.Config{Dir: dir, MinFree: 1})
	if err != nil {
		return err.Error()
	}
	defer func() { _ = db.Close() }()
	in, err := Inspect(db, known)
	if err != nil {
		return err.Error()
	}
	if in.Condition.Lost() {
		return fmt.Sprint(in.Condition, " ", in.Kinds)
	}
	have := map[string]string{}
	must(t, db.View(func(x state.Txn) error {
		return x.Scan("", func(key string, value []byte) error {
			have[key] = string(value)
			return nil
		})
	}))
	for key, value := range content {
		if have[key] != value {
			t.Errorf("%s, and %s is not what was written", in.Condition, key)
		}
	}
	return ""
}

// builtDatabase is one with tables, and with something in its log that is in no table yet.
func builtDatabase(t *testing.T, dir string) (Anchor, map[string]string) {
	t.Helper()
	db, err := badger.Open(badger.Config{Dir: dir, MinFree: 1})
	must(t, err)
	s, err := Open(Config{DB: db, NewID: func() string { return "one" }})
	must(t, err)
	for i := range 60 {
		must(t, s.disk.update(func(x state.Txn) error {
			return x.Set(fmt.Sprintf("secret/n%d", i), bytes.Repeat([]byte{byte(i)}, 100<<10))
		}))
	}
	must(t, db.Close())
	db, err = badger.Open(badger.Config{Dir: dir, MinFree: 1})
	must(t, err)
	s, err = Open(Config{DB: db, NewID: func() string { return "one" }})
	must(t, err)
	must(t, s.disk.update(func(x state.Txn) error { return x.Set("secret/last", []byte("last")) }))
	known, err := s.Anchor()
	must(t, err)
	content := map[string]string{}
	must(t, db.View(func(x state.Txn) error {
		return x.Scan("", func(key string, value []byte) error {
			content[key] = string(value)
			return nil
		})
	}))
	// As a kill leaves it: what Close would put into a table is in the log.
	killed := dir + ".killed"
	must(t, os.CopyFS(killed, os.DirFS(dir)))
	must(t, db.Close())
	must(t, os.RemoveAll(dir))
	must(t, os.Rename(killed, dir))
	return known, content
}

func list(t *testing.T, dir string) (paths []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

// dice are the same in each run.
var dice = rand.New(rand.NewPCG(1, 2))

func some(n int64, k int) (at []int64) {
	for range k {
		at = append(at, dice.Int64N(n))
	}
	return at
}

func flipAt(t *testing.T, path string, at ...int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	for _, o := range at {
		b := make([]byte, 1)
		_, err := f.ReadAt(b, o)
		must(t, err)
		b[0] ^= 0x5a
		_, err = f.WriteAt(b, o)
		must(t, err)
	}
	must(t, f.Close())
}

func zeroFrom(t *testing.T, path string, from, to int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(make([]byte, to-from), from)
	must(t, err)
	must(t, f.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
