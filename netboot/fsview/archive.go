package fsview

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"rackboot/protocol"
)

// Archiver reads archives where they lie.
type Archiver struct {
	// Spool is the folder for what has to be unpacked to be read at an offset (compressed
	// entries of zips), the system's for temporary files if empty. Nothing stays in it.
	Spool string
	// SpoolBytes bounds that, in bytes: 4 GiB if it is 0.
	SpoolBytes int64
	Limits     Limits
}

// Archive is that of an Archiver with nothing set.
func Archive(r io.ReaderAt, size int64, name string) (fs.FS, error) {
	return Archiver{}.Archive(r, size, name)
}

// Archive reads the ISO image, zip or tar of that size that r has. What it is is seen by
// its content; its name is for errors only. Where r is an *os.File, or a section of one,
// files that lie in it as they are have a Section. A file system with a Close method is
// to be closed before r is.
//
// Names that are no paths (CheckName), two files of one name (in a zip; in a tar the later
// one counts), encrypted and sparse files, and what is cut off or more than the limits,
// are errors: invalid where the archive is wrong, unsupported where it is not for us.
// Devices and FIFOs are left out; links do not lead out.
func (a Archiver) Archive(r io.ReaderAt, size int64, name string) (fs.FS, error) {
	head := make([]byte, headSize)
	n, err := r.ReadAt(head, 0)
	if n == 0 && size > 0 && err != nil && err != io.EOF { //nolint:errorlint // the contract of ReaderAt
		return nil, protocol.Errorf(protocol.CodeUnavailable, "read "+name, "%w", err).WithHint("look at the disk that it is on")
	}
	f, ok := formatOf(head[:n])
	if !ok {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "read "+name, "it is no ISO image, zip or tar").
			WithHint("if it should be, it came incomplete: compare its checksum")
	}
	if f.open == nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "read "+name, "it is %s", f.what).WithHint("%s", f.hint)
	}
	return f.open(a, r, size, name)
}

// MountArchive is an archive on disk as a mount: names are found in any case, as on media.
// The mount closes f, and so does an error, which is that of Archive.
func MountArchive(f *os.File, size int64, name string) (Mount, error) {
	files, err := Archive(f, size, name)
	if err != nil {
		return Mount{}, errors.Join(err, f.Close())
	}
	return Mount{FS: files, Origin: "uploaded file " + name, Fold: true, Close: func() error {
		var closed error
		if c, ok := files.(io.Closer); ok {
			closed = c.Close()
		}
		return errors.Join(closed, f.Close())
	}}, nil
}

// Compressed says, of the first bytes of a file, that it is to be repacked before it is
// an archive.
func Compressed(head []byte) bool {
	f, ok := formatOf(head)
	return ok && f.unpack != nil
}

// headSize is how much of a file says what it is: the volume descriptor of an ISO image
// is at 32 KiB.
const headSize = 33 << 10

// format is a kind of file.
type format struct {
	what string
	// is looks at the first bytes.
	is func(head []byte) bool
	// open reads an archive in place; nil for what is none, and then hint says what to do.
	open   func(a Archiver, r io.ReaderAt, size int64, name string) (fs.FS, error)
	hint   string
	unpack func(io.Reader) (io.Reader, func(), error) // of what is compressed
}

// formats are tried in this order: the beginning of an ISO image is free for anything.
func formats() []format {
	const repack = "unpack it once, at its import"
	const other = "make a zip or tar of what is in it"
	begins := func(magic string) func([]byte) bool {
		return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
	}
	return []format{
		{what: "an ISO image", is: isISO, open: openISO},
		{what: "a zip", is: begins("PK\x03\x04"), open: openZip},
		{what: "an empty zip", is: begins("PK\x05\x06"), hint: "make it anew, with the files that boot"},
		{what: "a part of a divided zip", is: begins("PK\x07\x08"), hint: "join the parts (zip -s 0)"},
		{what: "a tar", is: isTar, open: openTar},
		{what: "compressed by gzip", is: begins("\x1f\x8b"), hint: repack, unpack: unpackGzip},
		{what: "compressed by xz", is: begins("\xfd7zXZ\x00"), hint: repack, unpack: unpackXz},
		{what: "compressed by bzip2", is: begins("BZh"), hint: repack, unpack: unpackBzip2},
		{what: "compressed by zstd", is: isZstd, hint: repack, unpack: unpackZstd},
		{what: "a 7z archive", is: begins("7z\xbc\xaf\x27\x1c"), hint: other},
		{what: "a RAR archive", is: begins("Rar!\x1a\x07"), hint: other},
		{what: "a cpio archive", is: begins("07070"), hint: "an initramfs is a file of an archive, and not one"},
		{what: "a squashfs", is: begins("hsqs"), hint: other},
	}
}

func formatOf(head []byte) (format, bool) {
	for _, f := range formats() {
		if f.is(head) {
			return f, true
		}
	}
	return format{}, false
}

// archive is a tree whose contents are in a file, and what has to be closed.
type archive struct {
	*tree
	spool *spool
}

// Close gives up what was unpacked. Open files stay open.
func (a archive) Close() error { return a.spool.close() }
