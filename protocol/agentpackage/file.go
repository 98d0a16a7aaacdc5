package agentpackage

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"rackboot/protocol"
)

// Write writes a package: its signed manifest, and the programs that program opens. What the manifest does not say of a
// program is in no package. Errors: invalid for a manifest that [Read] refuses and for another program than it names; those of
// w and program.
func Write(w io.Writer, signed []byte, program func(Binary) (io.ReadCloser, error)) error {
	m, err := Read(signed)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	entry := func(name string, mode, size int64) error {
		return out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size, ModTime: m.MadeAt, Format: tar.FormatUSTAR})
	}
	if err := entry(ManifestFile, 0o644, int64(len(signed))); err != nil {
		return err
	}
	if _, err := out.Write(signed); err != nil {
		return err
	}
	for _, b := range m.Binaries {
		if err := entry(BinaryFile(b.Architecture), 0o755, b.Size); err != nil {
			return err
		}
		in, err := program(b)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, newContent(b, in))
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return out.Close()
}

// Reader reads a package from its beginning to its end. Nothing in it is verified but that the programs are those of the
// manifest: who signed it says [Open]. Make it with NewReader, then call Next until it returns [io.EOF].
type Reader struct {
	tar      *tar.Reader
	signed   []byte
	manifest Manifest
	next     int
	last     *content // of the last program; it must be read to its end
}

// NewReader reads the manifest. Errors: invalid.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{tar: tar.NewReader(in)}
	h, err := r.tar.Next()
	if err != nil {
		return nil, noPackage("it is no tar: %w", err)
	}
	if h.Name != ManifestFile || h.Typeflag != tar.TypeReg || h.Size > MaxManifest {
		return nil, noPackage("it does not begin with %s of at most %d bytes", ManifestFile, MaxManifest)
	}
	if r.signed, err = io.ReadAll(r.tar); err != nil {
		return nil, noPackage("%w", err)
	}
	if r.manifest, err = Read(r.signed); err != nil {
		return nil, err
	}
	return r, nil
}

// Manifest is the manifest, and Signed as it was signed.
func (r *Reader) Manifest() Manifest { return r.manifest }

// Signed is the manifest as it was signed.
func (r *Reader) Signed() []byte { return r.signed }

// Next is the next program, in the order of the manifest. Its content ends with an error, in place of [io.EOF], where it is not
// what the manifest says. Next returns io.EOF behind the last. Errors: invalid, also for a program that was not read to its end.
func (r *Reader) Next() (Binary, io.Reader, error) {
	if r.last != nil && !r.last.whole {
		return Binary{}, nil, noPackage("the program for %s was not read", r.last.binary.Architecture)
	}
	h, err := r.tar.Next()
	switch {
	case errors.Is(err, io.EOF) && r.next == len(r.manifest.Binaries):
		return Binary{}, nil, io.EOF
	case err != nil:
		return Binary{}, nil, noPackage("it ends before its last program: %s", err.Error()) // whoever reads must not take it for the end
	case r.next == len(r.manifest.Binaries):
		return Binary{}, nil, noPackage("it has %.80q, which the manifest does not name", h.Name)
	}
	b := r.manifest.Binaries[r.next]
	if h.Name != BinaryFile(b.Architecture) || h.Typeflag != tar.TypeReg || h.Size != b.Size {
		return Binary{}, nil, noPackage("it has %.80q of %d bytes where %s of %d is to be", h.Name, h.Size, BinaryFile(b.Architecture), b.Size)
	}
	r.next++
	r.last = newContent(b, r.tar)
	return b, r.last, nil
}

// content is a program as it is read. It ends well only if it is the one of the manifest.
type content struct {
	binary Binary
	in     io.Reader
	hash   hash.Hash
	n      int64
	whole  bool
}

func newContent(b Binary, in io.Reader) *content {
	return &content{binary: b, in: in, hash: sha256.New()}
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	c.hash.Write(p[:n])
	if c.n > c.binary.Size {
		return 0, noPackage("the program for %s has more than %d bytes", c.binary.Architecture, c.binary.Size)
	}
	switch {
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF):
		return n, noPackage("the program for %s cannot be read: %w", c.binary.Architecture, err)
	}
	if got := "sha256:" + hex.EncodeToString(c.hash.Sum(nil)); c.n != c.binary.Size || got != c.binary.SHA256 {
		return n, noPackage("the program for %s is another one than was signed: %d bytes, %s", c.binary.Architecture, c.n, got)
	}
	c.whole = true
	return n, io.EOF
}

func noPackage(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalid, "read a package of agents", "%w", fmt.Errorf(format, args...)).
		WithHint("make it with `rackctl agent-package make`")
}
