package fsview

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
)

// folder is a folder with links and what is no file, and a secret beside it.
func folder(t testing.TB) (dir string) {
	t.Helper()
	base := t.TempDir()
	dir = filepath.Join(base, "root")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.MkdirAll(filepath.Join(dir, "EFI", "BOOT"), 0o755))
	do(os.WriteFile(filepath.Join(base, "secret"), []byte("secret"), 0o600))
	do(os.WriteFile(filepath.Join(dir, "EFI", "BOOT", "BOOTX64.EFI"), []byte("shim"), 0o644))
	do(os.WriteFile(filepath.Join(dir, "undionly.kpxe"), []byte("ipxe"), 0o644))
	for name, to := range map[string]string{
		"inside": "EFI/BOOT/BOOTX64.EFI", "dir": "EFI/BOOT", "self": ".", "up": "EFI/../undionly.kpxe",
		"secret": "../secret", "absolute": "/etc/passwd", "above": "..", "hop": "above/secret",
		"nowhere": "nothing", "circle": "circle2", "circle2": "circle",
	} {
		do(os.Symlink(to, filepath.Join(dir, name)))
	}
	do(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	return dir
}

func TestDisk(t *testing.T) {
	d, err := Disk(folder(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"undionly.kpxe": "ipxe", "EFI/BOOT/BOOTX64.EFI": "shim", "inside": "shim", "dir/BOOTX64.EFI": "shim", "self/self/up": "ipxe"} {
		if got := text(t, d, name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	for name, code := range map[string]protocol.Code{
		"secret": protocol.CodeDenied, "absolute": protocol.CodeDenied, "hop": protocol.CodeDenied, "above/secret": protocol.CodeDenied,
		"self/secret": protocol.CodeDenied, "dir/../../secret": protocol.CodeInvalid, "../secret": protocol.CodeInvalid,
		"nowhere": protocol.CodeNotFound, "nothing": protocol.CodeNotFound, "undionly.kpxe/x": protocol.CodeNotFound, "fifo/x": protocol.CodeNotFound,
		"circle": protocol.CodeInvalid, "fifo": protocol.CodeDenied,
	} {
		_, err := d.Open(name)
		t.Log(err, protocol.HintOf(err))
		wantCode(t, err, code)
		_, err = fs.Stat(d, name)
		wantCode(t, err, code)
	}
	if diff := cmp.Diff([]string{"EFI/", "dir@", "inside", "self@", "undionly.kpxe", "up"}, names(t, d, ".")); diff != "" {
		t.Error(diff)
	}
	if err := fstest.TestFS(d, "EFI/BOOT/BOOTX64.EFI", "inside", "dir"); err != nil {
		t.Error(err)
	}
	v := view(t, Mount{FS: d, Close: d.(*disk).Close, Fold: true})
	if err := fstest.TestFS(v, "EFI/BOOT/BOOTX64.EFI", "inside", "dir"); err != nil {
		t.Error(err)
	}
	if text(t, v, "efi/boot/bootx64.efi") != "shim" {
		t.Error("not found in another case")
	}
}

// TestDiskIsNow: what people put into the folder is there, and a folder that is not is
// said.
func TestDiskIsNow(t *testing.T) {
	dir := t.TempDir()
	d, err := Disk(dir)
	if err != nil {
		t.Fatal(err)
	}
	v := view(t, Mount{FS: d}, Mount{FS: memory(t, map[string]string{"rendered/x": "2", "file": "3"})})
	_, err = v.Open("new")
	wantCode(t, err, protocol.CodeNotFound)
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text(t, v, "new") != "1" {
		t.Error("not there")
	}
	// New would have refused these.
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "rendered"), nil, 0o600), os.Mkdir(filepath.Join(dir, "file"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"file", "new", "rendered/"}, names(t, v, ".")); diff != "" || text(t, v, "rendered/x") != "2" || text(t, v, "file") != "3" {
		t.Errorf("the later mount does not win: %s", diff)
	}
	if err := d.(*disk).Close(); err != nil {
		t.Fatal(err)
	}
	_, err = v.Open("new")
	wantCode(t, err, protocol.CodeUnavailable)
	_, err = Disk(filepath.Join(dir, "nothing"))
	wantCode(t, err, protocol.CodeNotFound)
	_, err = Disk(filepath.Join(dir, "new"))
	wantCode(t, err, protocol.CodeUnavailable)
}

// TestHugeDirectory: a list has a bound, a name is found without it.
func TestHugeDirectory(t *testing.T) {
	m := Memory{}
	for i := range maxEntries + 1 {
		m["pool/"+string(rune('a'+i%26))+"-"+string([]byte{byte('0' + i/10000%10), byte('0' + i/1000%10), byte('0' + i/100%10), byte('0' + i/10%10), byte('0' + i%10)})] = nil
	}
	fsys, err := m.FS(noon)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fs.ReadDir(fsys, "pool")
	wantCode(t, err, protocol.CodeUnsupported)
	v := view(t, Mount{FS: fsys, Fold: true}, Mount{FS: memory(t, map[string]string{"x": ""})})
	_, err = v.ReadDir("pool")
	wantCode(t, err, protocol.CodeUnsupported)
	if _, err := v.Stat("pool/a-00000"); err != nil {
		t.Error(err)
	}
	_, err = v.Stat("pool/A-00000") // needs the list
	wantCode(t, err, protocol.CodeUnsupported)
	_, err = New([]Mount{{FS: fsys, Origin: "ISO"}, {At: "pool", FS: memory(t, map[string]string{"x": ""})}})
	wantCode(t, err, protocol.CodeUnsupported)
}

// TestFold: a part that is there as it is written wins, else the first in byte order.
func TestFold(t *testing.T) {
	f := fold(memory(t, map[string]string{"EFI/a": "1", "EFI/A": "2", "efi/b": "3", "Efi/Boot/X": "4", "file/x": "5"}))
	for name, want := range map[string]string{
		"EFI/a": "1", "EFI/A": "2", "efi/b": "3", "Efi/Boot/X": "4", "Efi/bOOT/x": "4", "eFI/a": "1", "eFi/A": "2", "FILE/X": "5",
	} {
		if got := text(t, f, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"efi/a", "EFI/b", "eFI/Boot", "FILE/X/y", "nothing/x"} {
		_, err := f.Open(name)
		wantCode(t, err, protocol.CodeNotFound)
	}
	_, err := f.Open("../efi")
	wantCode(t, err, protocol.CodeInvalid)
	if err := fstest.TestFS(f, "EFI/a", "EFI/A", "efi/b"); err != nil {
		t.Error(err)
	}
}

// TestMemory: names are checked when the files are made, not when they are asked for.
func TestMemory(t *testing.T) {
	m := memory(t, map[string]string{"a/b/c": "1", "a/d": "", "e": "2"})
	if err := fstest.TestFS(m, "a/b/c", "a/d", "e"); err != nil {
		t.Error(err)
	}
	fi, err := fs.Stat(m, "a/b/c")
	if err != nil || !fi.ModTime().Equal(noon) || fi.Mode() != 0o444 || fi.Size() != 1 || fi.Name() != "c" {
		t.Errorf("%+v, %v", fi, err)
	}
	for _, bad := range []Memory{{"/a": nil}, {"a/../b": nil}, {".": nil}, {"": nil}, {"a": nil, "a/b": nil}, {"a/b": nil, "a": nil}, {"a//b": nil}} {
		_, err := bad.FS(noon)
		wantCode(t, err, protocol.CodeInvalid)
	}
	if err := fstest.TestFS(memory(t, nil)); err != nil {
		t.Error(err)
	}
	if !slices.Equal(names(t, m, "a"), []string{"b/", "d"}) {
		t.Error(names(t, m, "a"))
	}
}
