package backupfile

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"rackboot/protocol"
)

const opWrite = "write backup"

// Writer writes a backup. It is used by one goroutine.
type Writer struct {
	header  Header
	frames  *framer
	sealed  io.WriteCloser // nil of a plain one
	packed  *zstd.Encoder
	members *tar.Writer
	list    []Member
	names   map[string]bool
}

// NewWriter begins a backup for the keys that may open it; without one it is plain. The header's
// Sealed is set. Close must be called, or what was written is no backup.
func NewWriter(w io.Writer, h Header, to []Recipient) (*Writer, error) {
	b := &Writer{names: map[string]bool{}}
	if h.Sealed = Plain; len(to) > 0 {
		h.Sealed = SealedAge
	}
	b.header = h
	var err error
	if b.frames, err = newFramer(w, h); err != nil {
		return nil, failed(err)
	}
	var into io.Writer = b.frames
	if len(to) > 0 {
		if b.sealed, err = age.Encrypt(into, to...); err != nil {
			return nil, failed(err)
		}
		into = b.sealed
	}
	// One at a time: the memory of more is not worth their speed beside a disk or a network.
	if b.packed, err = zstd.NewWriter(into, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithEncoderLevel(zstd.SpeedDefault)); err != nil {
		return nil, failed(err)
	}
	b.members = tar.NewWriter(b.packed)
	return b, nil
}

// window is how far back the compression looks, in bytes.
const window = 1 << 20

func failed(err error) error {
	if _, ours := errors.AsType[*protocol.Error](err); ours {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, opWrite, "%w", err).WithHint("look at the space where it is written, and at the connection")
}

// Add adds a member of a size that r has, or more; what is more stays.
func (b *Writer) Add(name string, size int64, r io.Reader) error {
	if err := checkName(name); err != nil || name == manifestName || b.names[name] || len(b.list) >= maxMembers {
		return protocol.Errorf(protocol.CodeInvalid, opWrite, "%q is no member that can be added: %v", name, err)
	}
	sum := sha256.New()
	if err := b.add(name, size, io.TeeReader(r, sum)); err != nil {
		return err
	}
	b.names[name] = true
	b.list = append(b.list, Member{Name: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

func (b *Writer) add(name string, size int64, r io.Reader) error {
	if err := b.members.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: size, ModTime: b.header.Made}); err != nil {
		return failed(fmt.Errorf("%s: %w", name, err))
	}
	if n, err := io.CopyN(b.members, r, size); err != nil {
		return failed(fmt.Errorf("%s: after %d of %d bytes: %w", name, n, size, err))
	}
	return nil
}

// Close ends the backup with its manifest, whose header and members are set, and returns that.
func (b *Writer) Close(m Manifest) (Manifest, error) {
	m.Header, m.Members = b.header, b.list
	raw, err := json.Marshal(m)
	if err != nil {
		return m, failed(err)
	}
	if len(raw) > maxManifest {
		return m, protocol.Errorf(protocol.CodeInvalid, opWrite, "a manifest of %d bytes; %d is the most", len(raw), maxManifest)
	}
	if err := b.add(manifestName, int64(len(raw)), bytes.NewReader(raw)); err != nil {
		return m, err
	}
	err = errors.Join(b.members.Close(), b.packed.Close())
	if err == nil && b.sealed != nil {
		err = b.sealed.Close()
	}
	if err == nil {
		err = b.frames.end()
	}
	if err != nil {
		return m, failed(err)
	}
	return m, nil
}
