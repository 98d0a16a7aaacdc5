package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"rackboot/netboot/fsview"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/iso/isotest"
)

// What TestLarge serves: an image of 5 GB with a file of more than 4 GiB, of two extents,
// that is on disk only where marks are.
const (
	hugeFirst = 1<<32 - isotest.Sector // the most that an extent has, in whole blocks
	hugeSize  = hugeFirst + 700<<20
	// hugeHeap is how much the heap may grow while it is sent.
	hugeHeap  = 8 << 20
	hugePiece = 128 << 20
	hugeStep  = 640 << 20 // from one piece to the next: some are enough
)

// hugeImage writes the image.
func hugeImage(t *testing.T, marks map[int64]string) *os.File {
	t.Helper()
	tree := func(block uint32) []byte {
		return isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: largeName, Sections: []isotest.Section{
			{Block: block, Size: hugeFirst}, {Block: block + hugeFirst/isotest.Sector, Size: hugeSize - hugeFirst},
		}}}}.Bytes()
	}
	begins := int64(len(tree(0)))
	f, err := os.Create(filepath.Join(t.TempDir(), imageName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	_, err = f.Write(tree(uint32(begins / isotest.Sector))) //nolint:gosec // small
	for at, mark := range marks {
		_, failed := f.WriteAt([]byte(mark), begins+at)
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, f.Truncate(begins+hugeSize)); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLarge: seed 004, Providing Local Content. A file of more than 4 GiB out of an image of
// 5 GB is sent in ranges from a view, as an agent has it, in memory that does not grow.
func TestLarge(t *testing.T) {
	marks := map[int64]string{0: "begin", hugeFirst - 4: "over the edge", 1<<32 - 2: "4 GiB", hugeSize - 3: "end"}
	image := hugeImage(t, marks)
	about, err := image.Stat()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := fsview.Archive(image, about.Size(), imageName)
	if err != nil {
		t.Fatal(err)
	}
	v, err := fsview.New([]fsview.Mount{
		{At: "mounts/isos/" + imageName, FS: archive, Origin: imageName, Fold: true},
		{Links: fsview.Links{"machines/m/boot": "mounts/isos/" + imageName}, Origin: "environment"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	s, err := httpboot.New(httpboot.Config{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Files: treeFiles{v}, Evidence: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	client := &http.Client{Transport: &http.Transport{}}
	ask := func(first, n int64, to io.Writer) {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/b/m/machines/m/boot/%s", s.Addr(), largeName), nil)
		if err != nil {
			t.Fatal(err)
		}
		last := min(first+n, hugeSize) - 1
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.Copy(to, resp.Body)
		want := fmt.Sprintf("bytes %d-%d/%d", first, last, int64(hugeSize))
		if err != nil || got != last-first+1 || resp.Header.Get("Content-Range") != want {
			t.Fatalf("%s %q, want %q: %d bytes, %v", resp.Status, resp.Header.Get("Content-Range"), want, got, err)
		}
	}
	for at, mark := range marks {
		var text writer
		if ask(at, int64(len(mark)), &text); string(text) != mark {
			t.Errorf("at %d there is %q, not %q", at, text, mark)
		}
	}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak uint64
	for at := int64(0); at < hugeSize; at += hugeStep {
		ask(at, hugePiece, io.Discard)
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > hugeHeap { //nolint:gosec // of a test
		t.Errorf("the heap grew by %d bytes", grown)
	} else {
		t.Logf("the heap grew by %d bytes at most", grown)
	}
	client.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

type writer []byte

// Write implements io.Writer.
func (w *writer) Write(b []byte) (int, error) {
	*w = append(*w, b...)
	return len(b), nil
}
