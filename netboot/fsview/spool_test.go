package fsview

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"rackboot/protocol"
)

// noise is text of so many bytes that deflates to about three quarters.
func noise(n int, seed byte) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b) // has no error
	for i := range b {
		b[i] = '0' + b[i]&63
	}
	return string(b)
}

// TestSpool: what is deflated is unpacked once for all that read it, to memory or to a
// file without a name, within bounds.
func TestSpool(t *testing.T) {
	const size = 260 << 10
	one, two, three := noise(size, 1), noise(size, 2), noise(size, 3)
	image := makeZip(t, zipped{"1", one, deflated}, zipped{"2", two, deflated}, zipped{"3", three, deflated}, zipped{"small", one[:1000], deflated}, zipped{"huge", strings.Repeat("x", 3*size), deflated})
	dir := t.TempDir()
	fsys, err := Archiver{Spool: dir, SpoolBytes: 2*size + 2000}.Archive(bytes.NewReader(image), int64(len(image)), "x.zip")
	if err != nil {
		t.Fatal(err)
	}
	s := fsys.(archive).spool
	section(t, fsys, "1", one)
	f1, err := fsys.Open("1")
	if err != nil {
		t.Fatal(err)
	}
	small, err := fsys.Open("small")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, ok := small.(Sectioner).Section(); ok {
		t.Error("small entries are in memory")
	}
	var group sync.WaitGroup
	for range 8 { // the second and third never fit together beside the first
		for name, want := range map[string]string{"1": one, "small": one[:1000]} {
			group.Go(func() {
				if got, err := fs.ReadFile(fsys, name); err != nil || string(got) != want {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	group.Wait()
	section(t, fsys, "2", two)
	section(t, fsys, "3", three) // in the place of 2
	if s.used != 2*size+1000 || s.held != 1000 || s.idle.Len() != 1 {
		t.Errorf("%d bytes are used, %d of them held, %d idle", s.used, s.held, s.idle.Len())
	}
	f3, err := fsys.Open("3")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"2", "huge"} {
		_, err = fsys.Open(name)
		wantCode(t, err, protocol.CodeUnavailable)
		if err == nil || !strings.Contains(err.Error(), "do not fit") || protocol.HintOf(err) == "" {
			t.Error(err)
		}
		if fi, err := fs.Stat(fsys, name); err != nil || fi.Size() < size {
			t.Errorf("its size is not known without unpacking: %v", err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	f3.Close()
	if err := fsys.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	b := make([]byte, size)
	if _, err := f1.(Content).ReadAt(b, 0); err != nil || string(b) != one {
		t.Errorf("an open file does not outlive Close: %v", err)
	}
	f1.Close()
	small.Close()
	if s.used != 0 || s.held != 0 || s.idle.Len() != 0 {
		t.Errorf("%d bytes are used, %d of them held", s.used, s.held)
	}
	_, err = fsys.Open("1")
	wantCode(t, err, protocol.CodeUnavailable)
}

// TestSpoiled: what does not unpack to its size and sum is not served, and takes no room.
func TestSpoiled(t *testing.T) {
	for _, size := range []int{1000, 260 << 10} {
		image := makeZip(t, zipped{"a", noise(size, 1), deflated}, zipped{"b", "stored", nil})
		image[100] ^= 1
		at := bytes.LastIndex(image, []byte("PK\x01\x02"))
		image[at+42] ^= 0xff // where the stored one begins
		fsys, err := open(t, image)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			_, err = fsys.Open(name)
			wantCode(t, err, protocol.CodeInvalid)
		}
		if s := fsys.(archive).spool; s.used != 0 || s.held != 0 {
			t.Errorf("%d bytes are used", s.used)
		}
	}
	fsys, err := Archiver{Spool: t.TempDir() + "/nothing"}.Archive(bytes.NewReader(makeZip(t, zipped{"a", noise(260<<10, 1), deflated})), 1<<20, "x")
	if err == nil {
		_, err = fsys.Open("a")
		wantCode(t, err, protocol.CodeUnavailable)
		err = nil
	}
	if err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Error(err)
	}
}
