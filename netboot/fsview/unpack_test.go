package fsview

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/iotest"

	"github.com/ulikunitz/xz"

	"rackboot/protocol"
)

// What is compressed need be no tar.
func TestUnpack(t *testing.T) {
	plain := append([]byte("070701"), noise(100_000, 3)...)
	for kind, packed := range map[string][]byte{"gzip": gzipped(t, plain), "xz": xzipped(t, plain, xz.WriterConfig{}), "zstd": zstdded(t, plain)} {
		var out bytes.Buffer
		if err := Unpack(t.Context(), bytes.NewReader(packed), &out); err != nil || !bytes.Equal(out.Bytes(), plain) {
			t.Errorf("%s: %d bytes, %v", kind, out.Len(), err)
		}
		if err := Unpack(t.Context(), bytes.NewReader(packed[:len(packed)/2]), &bytes.Buffer{}); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s cut off: %v", kind, err)
		}
	}
	if err := Unpack(t.Context(), bytes.NewReader(plain), &bytes.Buffer{}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("not compressed: %v", err)
	}
	full := errors.New("full")
	if err := Unpack(t.Context(), bytes.NewReader(gzipped(t, plain)), fullDisk{full}); !errors.Is(err, full) {
		t.Errorf("no room: %v", err)
	}
	if err := Unpack(t.Context(), iotest.ErrReader(errors.New("reset")), &bytes.Buffer{}); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a source that breaks: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Unpack(ctx, bytes.NewReader(gzipped(t, plain)), &bytes.Buffer{}); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("the context ended: %v", err)
	}
}

// fullDisk takes nothing.
type fullDisk struct{ err error }

func (f fullDisk) Write([]byte) (int, error) { return 0, f.err }
