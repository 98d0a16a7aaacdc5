package fsview

import (
	"io/fs"
	"os"
	"testing"
)

// TestShared: an archive in several views is closed after the last of them.
func TestShared(t *testing.T) {
	closes := 0
	iso, err := New([]Mount{{FS: memory(t, map[string]string{"linux": "kernel"}), Close: func() error { closes++; return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	var servers []*View
	for range 3 {
		if !iso.Acquire() {
			t.Fatal("it is open")
		}
		v, err := New([]Mount{{At: "mounts/isos/x", FS: iso, Close: func() error { iso.Release(); return nil }}})
		if err != nil {
			t.Fatal(err)
		}
		servers = append(servers, v)
	}
	iso.Release()
	for _, v := range servers {
		if closes != 0 || text(t, v, "mounts/isos/x/linux") != "kernel" {
			t.Error("closed too early")
		}
		v.Release()
	}
	if closes != 1 {
		t.Errorf("closed %d times", closes)
	}
}

// TestMirrored: what a mount says of a file beyond size and time is said by the view too.
func TestMirrored(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("Packages.gz"); err != nil {
		t.Fatal(err)
	}
	v := view(t, Mount{FS: mirrored{f}, Remote: true, Fold: true, Close: f.Close})
	section(t, v, "dists/Packages.gz", "Packages.gz")
	fi, err := v.Stat("dists/Packages.gz")
	if err != nil {
		t.Fatal(err)
	}
	if tag := fi.(interface{ ETag() string }).ETag(); tag != `"1"` {
		t.Errorf("tag %s", tag)
	}
}

// mirrored has one file, whatever one asks for, and says where it is and its tag.
type mirrored struct{ f *os.File }

func (m mirrored) Open(name string) (fs.File, error) { return tagged(m), nil }

type tagged struct{ f *os.File }

func (t tagged) Stat() (fs.FileInfo, error) {
	fi, err := t.f.Stat()
	return tagInfo{fi}, err
}
func (t tagged) OSFile() *os.File                         { return t.f }
func (t tagged) Read(b []byte) (int, error)               { return t.f.Read(b) }
func (t tagged) ReadAt(b []byte, at int64) (int, error)   { return t.f.ReadAt(b, at) }
func (t tagged) Seek(at int64, whence int) (int64, error) { return t.f.Seek(at, whence) }
func (t tagged) Close() error                             { return nil }

type tagInfo struct{ fs.FileInfo }

func (tagInfo) ETag() string { return `"1"` }
