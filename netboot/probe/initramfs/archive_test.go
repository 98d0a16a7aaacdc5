package initramfs

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
)

// Each entry begins at a multiple of four, and so does its content
// (buffer-format.rst of Linux).
func TestArchive(t *testing.T) {
	var out bytes.Buffer
	a := NewArchive(&out)
	a.Folder("dev")
	a.File("init", 0o755, []byte("12345"))
	a.File("lib/modules/x.ko", 0o644, []byte("1234"))
	a.File("lib/modules/list", 0o644, nil)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	const want = "dev:40755: init:100755:12345 lib:40755: lib/modules:40755: lib/modules/x.ko:100644:1234 lib/modules/list:100644: TRAILER!!!:0:"
	if got := strings.Join(entries(t, out.Bytes()), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// entries reads an archive by the description, as name:octal mode:content.
func entries(t *testing.T, raw []byte) (out []string) {
	t.Helper()
	const headerLen = 110
	align := func(n int) int { return (n + 3) &^ 3 }
	for at := 0; at < len(raw); {
		if !bytes.HasPrefix(raw[at:], []byte("070701")) {
			t.Fatalf("no entry at %d", at)
		}
		field := func(i int) int {
			v, err := strconv.ParseUint(string(raw[at+6+8*i:at+14+8*i]), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return int(v)
		}
		mode, size, nameLen := field(1), field(6), field(11)
		name := string(raw[at+headerLen : at+headerLen+nameLen-1])
		content := align(at + headerLen + nameLen)
		out = append(out, name+":"+strconv.FormatInt(int64(mode), 8)+":"+string(raw[content:content+size]))
		at = align(content + size)
	}
	return out
}

type fullDisk struct{ left int }

var errFull = errors.New("no space")

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestArchiveKeepsTheFirstError(t *testing.T) {
	a := NewArchive(&fullDisk{left: 200})
	a.File("init", 0o755, make([]byte, 300))
	if err := a.Close(); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
