package depot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/state/statetest"
)

func name(n int) string { return Name(time.Date(2026, 11, 20, 9, 0, n, 0, time.UTC)) }

func put(ctx context.Context, f Folder, name string, data []byte) error {
	return f.Put(ctx, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}, func(r io.Reader) error {
		back, err := io.ReadAll(r)
		if err == nil && !bytes.Equal(back, data) {
			err = errors.New("it is another")
		}
		return err
	})
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestFolder(t *testing.T) {
	f, ctx := Folder{Dir: t.TempDir()}, t.Context()
	for n := range 4 {
		if err := put(ctx, f, name(n), []byte("content")); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(ctx, f, name(3), nil); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("twice: %v", err)
	}
	info, err := os.Stat(filepath.Join(f.Dir, name(0)))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, other := range []string{"notes", "rackboot-hub-x.backup", ".new-notes-1", ".new-" + name(9) + "-77", name(8) + ".old"} {
		if err := os.WriteFile(filepath.Join(f.Dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.List(ctx)
	if err != nil || len(list) != 4 || list[0].Name != name(0) || list[0].Size != 7 || list[3].Made.Second() != 3 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := f.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	gone, err := Prune(ctx, f, 0) // the newest stays, whatever is asked
	if d := cmp.Diff([]string{name(0), name(1), name(2)}, gone); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if d := cmp.Diff([]string{".new-notes-1", "notes", name(3), name(8) + ".old", "rackboot-hub-x.backup"}, names(t, f.Dir)); d != "" {
		t.Error(d)
	}
	r, err := f.Open(ctx, name(3))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := f.Remove(ctx, name(0)); err != nil {
		t.Errorf("what is gone: %v", err)
	}
	lost := Folder{Dir: filepath.Join(f.Dir, "lost")}
	for what, err := range map[string]error{"put": put(ctx, lost, name(1), nil), "list": func() error { _, err := lost.List(ctx); return err }(), "sweep": lost.Sweep(ctx)} {
		if protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What fails leaves nothing; what a caller says stays as it is.
func TestFolderFails(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	ours := protocol.Errorf(protocol.CodeDenied, "x", "no")
	none := func(io.Reader) error { return nil }
	for what, row := range map[string]struct {
		err  error
		want protocol.Code
	}{
		"who writes":  {f.Put(ctx, name(1), func(io.Writer) error { return ours }, none), protocol.CodeDenied},
		"who reads":   {f.Put(ctx, name(1), func(io.Writer) error { return nil }, func(io.Reader) error { return ours }), protocol.CodeDenied},
		"some error":  {f.Put(ctx, name(1), func(io.Writer) error { return io.ErrUnexpectedEOF }, none), protocol.CodeUnavailable},
		"who goes":    {f.Put(ctx, name(1), func(w io.Writer) error { cancel(); _, err := w.Write([]byte("x")); return err }, none), protocol.CodeTimeout},
		"who is gone": {f.Put(ctx, name(1), func(io.Writer) error { return nil }, none), protocol.CodeTimeout},
	} {
		if protocol.CodeOf(row.err) != row.want {
			t.Errorf("%s: %v, want %s", what, row.err, row.want)
		}
	}
	if left := names(t, f.Dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A full disk is told, and leaves nothing.
func TestFolderFull(t *testing.T) {
	statetest.SmallDisk(t, 1, func(t *testing.T, dir string) {
		f := Folder{Dir: dir}
		if err := put(t.Context(), f, name(1), make([]byte, 2<<20)); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
			t.Errorf("%v", err)
		}
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		if err := put(t.Context(), f, name(1), make([]byte, 200<<10)); err != nil {
			t.Error(err)
		}
	})
}

// Killed at any step there is no backup, or a whole one that was read back; what is unfinished is swept.
func TestFolderKilled(t *testing.T) {
	data := bytes.Repeat([]byte("x"), 100_000)
	child := statetest.NewChild(t, func(run statetest.Run) {
		if err := put(context.Background(), Folder{Dir: run.Dir, Crash: run.Crash}, name(1), data); err != nil {
			panic(err)
		}
	})
	for _, point := range []string{"begun", "written", "renamed"} {
		f := Folder{Dir: t.TempDir()}
		child.KillAt(t, f.Dir, "depot."+point, 1, nil)
		list, err := f.List(t.Context())
		if err != nil || len(list) > 1 || len(list) == 1 && list[0].Size != int64(len(data)) || (len(list) == 1) != (point == "renamed") {
			t.Errorf("%s: %+v, %v", point, list, err)
		}
		if err := f.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := names(t, f.Dir); len(left) != len(list) {
			t.Errorf("%s: left: %q", point, left)
		}
	}
}

func TestName(t *testing.T) {
	for _, n := range []string{"", "rackboot-hub-.backup", "rackboot-hub-20261120T090000Z", "20261120T090000Z.backup", "rackboot-hub-20261320T090000Z.backup", "x" + name(1), name(1) + "x"} {
		if at, ok := MadeAt(n); ok {
			t.Errorf("%s is of %s", n, at)
		}
	}
	if at, ok := MadeAt(name(7)); !ok || at.Second() != 7 || name(7) != "rackboot-hub-20261120T090007Z.backup" {
		t.Errorf("%s, %s, %t", name(7), at, ok)
	}
}
