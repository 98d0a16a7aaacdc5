package main

import (
	"bufio"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/iso"
)

// TestFiles: what is served out of the image is what was extracted, and the client counts
// all of it.
func TestFiles(t *testing.T) {
	p := plan{files: 120, large: 3<<20 + 5}
	dir := t.TempDir()
	if err := p.write(dir); err != nil {
		t.Fatal(err)
	}
	image, err := os.Open(filepath.Join(dir, imageName))
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	about, err := image.Stat()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := iso.OpenFS(image, about.Size())
	if err != nil {
		t.Fatal(err)
	}
	s, err := httpboot.New(httpboot.Config{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Files: treeFiles{tree}, Evidence: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	names := append(p.loads()[0].names, largeName)
	want := p.large
	for n := range p.files {
		want += int64(smallSize(n))
	}
	j := job{Dir: dir, Address: s.Addr().String(), Names: names, Conns: 3, Requests: len(names), Check: true}
	o, err := j.run()
	if err != nil || o.Bytes != want || o.Took <= 0 {
		t.Errorf("%+v, want %d bytes, %v", o, want, err)
	}
	j.Names = []string{"pool/nothing"}
	if _, err := j.run(); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a file that is not there: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestHeader(t *testing.T) {
	for text, want := range map[string]int64{
		"HTTP/1.1 200 OK\r\ncontent-length: 12\r\nX: y\r\n\r\n":     12,
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n":              0,
		"HTTP/1.1 200 OK\r\n\r\n":                                   -1,
		"HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\n":       -1,
		"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n":           -1,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n":                  -1,
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n": 99999999999999,
	} {
		if got, err := header(bufio.NewReader(strings.NewReader(text))); (err == nil) != (want >= 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

// TestRender: what is rendered for a server is its own, and all of it.
func TestRender(t *testing.T) {
	e, err := bootenv.Merge(debian(17))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := e.Render(t.Context(), bootenv.Sample())
	if err != nil {
		t.Fatal(err)
	}
	got := string(tree.Files["machines/00000000-0000-4000-8000-000000000017/preseed.cfg"].Content)
	for _, want := range []string{"get_hostname string server-0017\n", "hostname string mirror.example\n", "bootdev string /dev/sda\n", "include string sudo curl lldpd\n", "echo 'ssh-ed25519 AAAA second'", "report/installed'\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if n, err := made(t.Context(), debian(18)); err != nil || n < len(got) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestSwap: files are exchanged and read, and none is torn; one of two generations would be
// seen.
func TestSwap(t *testing.T) {
	s := &swaps{dir: t.TempDir()}
	runs := int64(0) // each begins with a swap for each server
	done := func() bool { return s.swapped.Load() > runs*swapServers && s.pairs.Load() > 0 && s.files.Load() > 0 }
	for end := time.Now().Add(time.Minute); !done() && time.Now().Before(end); { // a busy machine comes to little in any time
		runs++
		if err := s.run(t.Context(), 300*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if s.torn.Load() != 0 || !done() {
		t.Errorf("%d torn, %d swaps, %d pairs, %d files", s.torn.Load(), s.swapped.Load(), s.pairs.Load(), s.files.Load())
	}
	mixed := append(kernelOf(0)[:swapKernel/2], kernelOf(1)[swapKernel/2:]...)
	if !whole(kernelOf(0), swapKernel) || whole(mixed, swapKernel) || whole(kernelOf(0)[1:], swapKernel) || whole(nil, swapKernel) {
		t.Error("whole and torn are not told apart")
	}
}
