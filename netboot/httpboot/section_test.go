package httpboot

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"rackboot/netboot"
	"rackboot/protocol"
)

// imageFiles is a Files whose files are parts of one open file, as those of an ISO image.
type imageFiles struct {
	netboot.Files
	image     *os.File
	at        map[string][2]int64 // offset and size
	scattered bool                // no part can be sent from the image
	read      atomic.Int64        // bytes that were not sent by the kernel
}

func (i *imageFiles) Open(_ netip.Addr, _, name string) (*netboot.File, error) {
	p, ok := i.at[name]
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file")
	}
	return &netboot.File{ReadSeekCloser: &imagePart{io.NewSectionReader(i.image, p[0], p[1]), i, p[0]}, Size: p[1], ETag: `"e"`}, nil
}

type imagePart struct {
	in    *io.SectionReader
	files *imageFiles
	at    int64
}

func (p *imagePart) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	p.files.read.Add(int64(n))
	return n, err
}

func (p *imagePart) Seek(off int64, whence int) (int64, error) { return p.in.Seek(off, whence) }

func (p *imagePart) Close() error { return nil }

func (p *imagePart) Section() (*os.File, int64, int64, bool) {
	return p.files.image, p.at, p.in.Size(), !p.files.scattered
}

var _ netboot.Section = (*imagePart)(nil)

// parts are the files of an image: two chunks and more, in the middle, at the end; and one
// that is smaller than what net/http reads to see how small it is.
func parts(t *testing.T) *imageFiles {
	t.Helper()
	image, err := os.Create(filepath.Join(t.TempDir(), "image"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	i := &imageFiles{image: image, at: map[string][2]int64{"a": {1000, 2<<20 + 7}, "b": {3 << 20, 1<<20 + 1}, "small": {5, 100}, "empty": {7, 0}}}
	for name, p := range i.at {
		if name == "small" || name == "empty" {
			continue
		}
		if _, err := image.WriteAt([]byte(content(name, p[1])), p[0]); err != nil {
			t.Fatal(err)
		}
	}
	return i
}

// content differs everywhere, so that nothing else passes for it.
func content(name string, size int64) string {
	b := make([]byte, 0, size+16)
	for n := 0; int64(len(b)) < size; n++ {
		b = fmt.Appendf(b, "%s%x,", name, n)
	}
	return string(b[:size])
}

// TestSection: parts of an image go out by sendfile, by offset: several at once do not move
// it. What is read of them is an end that is small; over TLS, and of parts that are in pieces,
// all is read.
func TestSection(t *testing.T) {
	for _, row := range []struct {
		name, file, headers string
		from, to            int64 // of the file
		scattered           bool
	}{
		{"the whole", "a", "", 0, 2<<20 + 7, false},
		{"from the middle", "a", "Range: bytes=1000000-\r\n", 1000000, 2<<20 + 7, false},
		{"in the middle", "a", "Range: bytes=1000000-1999999\r\n", 1000000, 2000000, false},
		{"its last bytes", "b", "Range: bytes=-1000\r\n", 1<<20 + 1 - 1000, 1<<20 + 1, false},
		{"in pieces", "a", "", 0, 2<<20 + 7, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			files := parts(t)
			files.scattered = row.scattered
			w := start(t, func(c *Config) { c.Files = files })
			if _, _, body := w.get(t, "GET", "/b/x/"+row.file, row.headers); body != content(row.file, files.at[row.file][1])[row.from:row.to] {
				t.Errorf("%d bytes of %d, or others", len(body), row.to-row.from)
			}
			w.stop()
			want := (row.to - row.from) % progressChunk
			if row.scattered {
				want = row.to - row.from
			} else if want > smallBody {
				want = 0
			}
			if got := files.read.Load(); got != want {
				t.Errorf("%d bytes were read, want %d", got, want)
			}
			if at, err := files.image.Seek(0, io.SeekCurrent); at != 0 || err != nil {
				t.Errorf("the image is at %d, %v", at, err)
			}
		})
	}
	t.Run("small ones", func(t *testing.T) {
		files := parts(t)
		w := start(t, func(c *Config) { c.Files = files })
		for name, size := range map[string]int{"small": 100, "empty": 0} {
			if status, header, body := w.get(t, "GET", "/b/x/"+name, ""); len(body) != size || header["Content-Length"] != fmt.Sprint(size) {
				t.Errorf("%s: %s, %d bytes, length %s", name, status, len(body), header["Content-Length"])
			}
		}
	})
	t.Run("TLS", func(t *testing.T) {
		files := parts(t)
		w := start(t, withTLS, func(c *Config) { c.Files = files })
		if err := fetchPath(w.addr, schemeHTTPS, "/b/x/a", 2<<20+7); err != nil {
			t.Error(err)
		}
		if got := files.read.Load(); got != 2<<20+7 {
			t.Errorf("%d bytes were read", got)
		}
	})
}

// TestSections: two parts of one image at once, by many.
func TestSections(t *testing.T) {
	files := parts(t)
	w := start(t, func(c *Config) { c.Files = files })
	var group sync.WaitGroup
	for n := range 16 {
		group.Go(func() {
			name := string(rune('a' + n%2))
			if _, _, body := w.get(t, "GET", "/b/x/"+name, ""); body != content(name, files.at[name][1]) {
				t.Errorf("%s: %d bytes, or others", name, len(body))
			}
		})
	}
	group.Wait()
}

// TestSectionEnds: a part ends where it ends, also of an image that is shorter; and it is
// then where it was sent to.
func TestSectionEnds(t *testing.T) {
	files := parts(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := newFileConn(server.(*net.TCPConn), make(chan struct{}, 1), func() {})
	for _, row := range []struct {
		name       string
		at         [2]int64
		from, most int64
		want       int64
	}{
		{"all of it", [2]int64{1000, 50}, 0, 50, 50},
		{"more than it has", [2]int64{1000, 50}, 10, 100, 40},
		{"behind its end", [2]int64{1000, 50}, 50, 100, 0},
		{"of an image cut short", [2]int64{4<<20 - 10, 100}, 0, 100, 10},
	} {
		if err := files.image.Truncate(4 << 20); err != nil {
			t.Fatal(err)
		}
		p := &imagePart{io.NewSectionReader(files.image, row.at[0], row.at[1]), files, row.at[0]}
		_, serr := p.Seek(row.from, io.SeekStart)
		limit := &io.LimitedReader{R: p, N: row.most}
		n, err := c.ReadFrom(limit)
		at, aerr := p.Seek(0, io.SeekCurrent)
		if n != row.want || at != row.from+n || limit.N != row.most-n || errors.Join(serr, err, aerr) != nil {
			t.Errorf("%s: %d bytes, now at %d, %d left, %v", row.name, n, at, limit.N, errors.Join(serr, err, aerr))
		}
	}
	if n := files.read.Load(); n != 0 {
		t.Errorf("%d bytes were read", n)
	}
}
