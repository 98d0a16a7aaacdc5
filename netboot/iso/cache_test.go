package iso_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync/atomic"
	"testing"

	"rackboot/netboot/iso"
	"rackboot/netboot/iso/isotest"
)

// counting counts what is read of an image.
type counting struct {
	r     io.ReaderAt
	bytes atomic.Int64
	large atomic.Int64 // reads of 64 KiB and more, which is the root folder
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.r.ReadAt(p, at)
	c.bytes.Add(int64(n))
	if n >= 64<<10 {
		c.large.Add(1)
	}
	return n, err
}

// manyFolders is an image whose folders take more memory than is kept of them. All files
// share their content.
func manyFolders() []byte {
	made := isotest.Tree{RockRidge: true}
	for i := range 1000 {
		for n := range 60 {
			made.Entries = append(made.Entries, isotest.Entry{Path: fmt.Sprintf("%04d/%02d", i, n), Sections: []isotest.Section{{Block: 16, Size: 2048}}})
		}
	}
	return made.Bytes()
}

// TestLazy: opening an image and a file reads the folders on the way, once, and none else.
func TestLazy(t *testing.T) {
	img := manyFolders()
	r := &counting{r: bytes.NewReader(img)}
	v, err := iso.OpenFS(r, int64(len(img)))
	if err != nil || r.bytes.Load() > 16<<10 {
		t.Fatalf("%d bytes, %v", r.bytes.Load(), err)
	}
	r.bytes.Store(0)
	for range 3 {
		if _, err := v.Open("0999/59"); err != nil {
			t.Fatal(err)
		}
	}
	root, err := v.ReadDir(".")
	if err != nil || len(root) != 1000 {
		t.Fatalf("%d, %v", len(root), err)
	}
	if n := r.bytes.Load(); n < 80<<10 || n > 110<<10 { // the root has 88 KiB, the other 6
		t.Errorf("%d bytes", n)
	}
}

// TestMemory: however much is walked, a bounded part of it is kept; and the folder that was
// used last is among it.
func TestMemory(t *testing.T) {
	img := manyFolders()
	r := &counting{r: bytes.NewReader(img)}
	v, err := iso.OpenFS(r, int64(len(img)))
	if err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, entries := heap(), 0
	if err := fs.WalkDir(v, ".", func(string, fs.DirEntry, error) error { entries++; return nil }); err != nil || entries != 61_001 {
		t.Fatalf("%d, %v", entries, err)
	}
	if after := heap(); after > before+5<<20 {
		t.Errorf("%d bytes are kept", after-before)
	}
	runtime.KeepAlive(v)
	r.bytes.Store(0)
	if _, err := v.Stat("0999/00"); err != nil || r.bytes.Load() > 200<<10 {
		t.Errorf("%d bytes, %v", r.bytes.Load(), err)
	}
	r.bytes.Store(0)
	if _, err := v.Stat("0999/01"); err != nil || r.bytes.Load() != 0 {
		t.Errorf("%d bytes again, %v", r.bytes.Load(), err)
	}
	// The root is used by each of them, and so it stays; others do not.
	r.large.Store(0)
	for i := range 1000 {
		r.bytes.Store(0)
		if _, err := v.Stat(fmt.Sprintf("%04d/01", i)); err != nil || i == 0 && r.bytes.Load() == 0 {
			t.Errorf("all folders are kept, %v", err)
		}
	}
	if n := r.large.Load(); n != 0 {
		t.Errorf("the root was read %d times", n)
	}
}
