package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/state/statetest"
)

// names are what a folder contains.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// holds fails the test unless the file has that content and that mode, and is alone.
func holds(t *testing.T, path, want string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("the file is %q (%v), want %q", got, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != mode {
		t.Errorf("%v (%v), want mode %v", info.Mode(), err, mode)
	}
	if d := cmp.Diff([]string{filepath.Base(path)}, names(t, filepath.Dir(path))); d != "" {
		t.Errorf("what is in the folder (-want +got):\n%s", d)
	}
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, row := range []struct {
		text string
		mode fs.FileMode
	}{{"first", 0o600}, {"", 0o644}, {strings.Repeat("x", 1<<20), 0o400}, {"for all", 0o666}} {
		if err := Replace(path, []byte(row.text), row.mode); err != nil {
			t.Fatal(err)
		}
		holds(t, path, row.text, row.mode)
	}
}

// A link in the file's place is replaced; what it leads to stays as it was.
func TestReplaceLink(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.Symlink(other, path); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "ours", 0o600)
	holds(t, other, "theirs", 0o600)
}

// Several at once: one of them is there, whole, and nothing else.
func TestReplaceTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for range 8 {
				if err := Replace(path, fmt.Appendf(nil, "%s", strings.Repeat(fmt.Sprint(n), 64<<10)), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 64<<10 || strings.Trim(string(got), string(got[:1])) != "" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	holds(t, path, string(got), 0o600)
}

// A disk without room leaves the file as it was, alone; with room again it is replaced.
func TestReplaceFullDisk(t *testing.T) {
	statetest.SmallDisk(t, 1, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "own", "f")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := Replace(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		filler := filepath.Join(dir, "filler")
		statetest.Fill(t, filler, 64<<10)
		err := Replace(path, make([]byte, 256<<10), 0o600)
		if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "no space left") || protocol.HintOf(err) == "" {
			t.Errorf("%v", err)
		}
		holds(t, path, "old", 0o600)
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if err := Replace(path, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		holds(t, path, "new", 0o600)
	})
}

// Where there is no folder, or a folder in the file's place, the error says which file.
func TestReplaceRefused(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "in it"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "no", "f"), taken} {
		err := Replace(path, []byte("x"), 0o600)
		if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "replace "+path+": ") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if d := cmp.Diff([]string{"taken"}, names(t, dir)); d != "" {
		t.Errorf("what is in the folder (-want +got):\n%s", d)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	stay := []string{".new-", ".new--1", ".new-1", ".new-f-", ".new-f-1x", ".new-f-x", "f", "new-f-1"}
	for _, name := range append([]string{".new-f-1", ".new-a-b-4294967295"}, stay...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".new-folder-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(dir); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(append([]string{".new-", ".new--1", ".new-1", ".new-f-", ".new-f-1x", ".new-f-x", ".new-folder-1"}, "f", "new-f-1"), names(t, dir)); d != "" {
		t.Errorf("what is left (-want +got):\n%s", d)
	}
	if err := Sweep(filepath.Join(dir, "no")); err != nil {
		t.Errorf("no folder: %v", err)
	}
	if err := Sweep(filepath.Join(dir, "f")); !errors.As(err, new(*protocol.Error)) {
		t.Errorf("a file: %v", err)
	}
}
