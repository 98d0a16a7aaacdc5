package rack

import (
	"runtime"
	"testing"

	"rackboot/netboot/iso/isotest"
	"rackboot/protocol/resource"
)

// What TestBootEnvLarge serves: an ISO with a file of two extents. That an image of 5 GB with
// a file of more than 4 GiB is sent alike is TestLarge of integration/benchfs: the agent reads
// all of a file before it serves it, which takes half a minute.
const (
	largeName  = "live/filesystem.squashfs"
	largeFirst = 64 << 20
	largeSize  = largeFirst + 32<<20
	// largeHeap is how much the heap may grow while it is sent.
	largeHeap = 8 << 20
)

// largeISO uploads the image.
func (b *bench) largeISO(marks map[int64]string) resource.EnvISO {
	b.t.Helper()
	tree := func(block uint32) []byte {
		return isotest.Tree{RockRidge: true, Entries: []isotest.Entry{
			{Path: "install.amd/vmlinuz", Content: []byte("kernel")},
			{Path: "install.amd/initrd.gz", Content: []byte("initramfs")},
			{Path: largeName, Sections: []isotest.Section{
				{Block: block, Size: largeFirst}, {Block: block + largeFirst/isotest.Sector, Size: largeSize - largeFirst},
			}},
		}}.Bytes()
	}
	begins := int64(len(tree(0)))
	head := tree(uint32(begins / isotest.Sector)) //nolint:gosec // small
	content := make([]byte, begins+largeSize)
	copy(content, head)
	for at, mark := range marks {
		copy(content[begins+at:], mark)
	}
	return b.uploadRaw("large.iso", content)
}

// TestBootEnvLarge: seed 004, Providing Local Content. A file out of an ISO is sent where it
// lies, in ranges, in memory that does not grow with it.
func TestBootEnvLarge(t *testing.T) { // not beside others: it looks at the heap
	b, _ := benchThatInstalls(t, 1)
	b.loaders = loaderFolder(t, true)
	marks := map[int64]string{0: "begin", largeFirst - 4: "over the edge", 1<<20 - 2: "1 MiB", largeSize - 3: "end"}
	b.claimEnv(0, b.debian(0, b.largeISO(marks)))
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first boot", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	from := b.installer(0)
	url := "http://" + b.http.String() + "/machines/" + b.intents[0].UID + "/boot/" + largeName
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak uint64
	got := b.stream(url, from, marks, func() {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc)
	})
	if got != largeSize {
		t.Errorf("%d bytes were sent of %d", got, int64(largeSize))
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > largeHeap { //nolint:gosec // of a test
		t.Errorf("the heap grew by %d bytes while %d were sent", grown, int64(largeSize))
	} else {
		t.Logf("the heap grew by %d bytes at most", grown)
	}
}
