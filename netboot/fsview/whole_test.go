package fsview

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
)

// TestReadWhole: a file is read to its end, whatever it lies in, and what is wrong with it
// is named (seed 004: a boot environment is there with all that it needs, or is refused).
func TestReadWhole(t *testing.T) {
	symlink := func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }
	isoOf := func(entries ...isotest.Entry) []byte {
		return isotest.Tree{RockRidge: true, Entries: entries}.Bytes()
	}
	damaged := func(b []byte) []byte { return bytes.Replace(b, []byte("kernel"), []byte("kernal"), 1) }
	iso := isoOf(isotest.Entry{Path: "k", Content: []byte("kernel")}, isotest.Entry{Path: "gone", Link: "nothing"}, isotest.Entry{Path: "a", Link: "b"}, isotest.Entry{Path: "b", Link: "a"}, isotest.Entry{Path: "d", Dir: true})
	tarball := makeTar(t, tarred{"k", "kernel", nil}, tarred{"gone", "", linked(tar.TypeSymlink, "nothing")}, tarred{"a", "", linked(tar.TypeSymlink, "b")}, tarred{"b", "", linked(tar.TypeSymlink, "a")}, tarred{"d/", "", nil})
	zipfile := makeZip(t, zipped{"k", "kernel", nil}, zipped{"gone", "nothing", symlink}, zipped{"a", "b", symlink}, zipped{"b", "a", symlink}, zipped{"d/", "", nil})
	for _, kind := range []struct {
		name    string
		content []byte
	}{{"iso", iso}, {"tar", tarball}, {"zip", zipfile}, {"folder", nil}} {
		fsys := archiveOrFolder(t, kind.content)
		v := view(t, Mount{At: "mounts/isos/x", FS: fsys, Fold: true}, Mount{Links: Links{"boot": "mounts/isos/x"}})
		for _, row := range []struct {
			name string
			want protocol.Code
			says []string
		}{
			{"k", "", nil},
			{"d", protocol.CodeInvalid, []string{"not a file"}},
			{"nothing", protocol.CodeNotFound, nil},
			{"gone", protocol.CodeNotFound, []string{"gone", "nothing", "which is not there"}},
			{"a", protocol.CodeInvalid, []string{"links"}},
		} {
			w, err := ReadWhole(t.Context(), v, "boot/"+row.name)
			if protocol.CodeOf(err) != row.want {
				t.Errorf("%s of a %s: %v, want %q", row.name, kind.name, err, row.want)
			}
			for _, says := range row.says {
				if err != nil && !strings.Contains(err.Error(), says) {
					t.Errorf("%s of a %s: %v, want %q in it", row.name, kind.name, err, says)
				}
			}
			if err == nil && (w.Size != 6 || string(w.Head) != "kernel" || w.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("kernel")))) {
				t.Errorf("%s of a %s: %+v", row.name, kind.name, w)
			}
		}
	}
	t.Run("damaged", func(t *testing.T) {
		if _, err := ReadWhole(t.Context(), archiveOrFolder(t, damaged(zipfile)), "k"); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("an entry that is stored, with another sum: %v", err)
		}
	})
	t.Run("ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := ReadWhole(ctx, archiveOrFolder(t, tarball), "k"); protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Error(err)
		}
	})
}

// archiveOrFolder is what an archive has; without one, a folder with the same.
func archiveOrFolder(t *testing.T, content []byte) fs.FS {
	t.Helper()
	if content != nil {
		fsys, err := open(t, content)
		if err != nil {
			t.Fatal(err)
		}
		return fsys
	}
	dir := t.TempDir()
	for link, target := range map[string]string{"gone": "nothing", "a": "b", "b": "a"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "k"), []byte("kernel"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	fsys, err := Disk(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// TestCutArchives: an archive that came incomplete is refused wherever it was cut.
func TestCutArchives(t *testing.T) {
	for name, whole := range map[string][]byte{
		"iso": isotest.Tree{Entries: []isotest.Entry{{Path: "K", Content: bytes.Repeat([]byte("k"), 5000)}, {Path: "L", Content: bytes.Repeat([]byte("l"), 5000)}}}.Bytes(),
		"tar": makeTar(t, tarred{"k", strings.Repeat("k", 1024), nil}, tarred{"l", strings.Repeat("l", 1000), nil}),
		"zip": makeZip(t, zipped{"k", strings.Repeat("k", 1024), nil}, zipped{"l", strings.Repeat("l", 1000), nil}),
	} {
		if _, err := open(t, whole); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		end := len(whole)
		if name == "tar" {
			end -= 2 * tarBlock // the mark of its end; one block of it is enough
		}
		for cut := 0; cut <= end; cut += 512 {
			if cut == len(whole) {
				continue
			}
			if _, err := open(t, whole[:cut]); err == nil {
				t.Errorf("%s: cut at byte %d of %d, it is taken as whole", name, cut, len(whole))
			}
		}
	}
}
