package fsview

import (
	"archive/zip"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"

	"rackboot/protocol"
)

const (
	// maxDirectory is the most that is read to find a zip's entries, in bytes: 128 for
	// each of them, as its end may lie about their number.
	maxDirectory = 16 << 20

	zipEncrypted = 1<<0 | 1<<6 | 1<<13 // APPNOTE 4.4.4: encrypted, strongly, and the directory too
)

// openZip reads the directory of a zip. What is stored is read where it lies; what is
// deflated is unpacked when somebody opens it, see [spool].
func openZip(a Archiver, r io.ReaderAt, size int64, name string) (fs.FS, error) {
	op := "read " + name
	limits := a.Limits.filled()
	bounded := &firstBytes{r: r}
	bounded.left.Store(maxDirectory)
	z, err := zip.NewReader(bounded, size)
	switch {
	case errors.Is(err, errTooMuch):
		return nil, limits.checkEntries(op, math.MaxInt)
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, broken(op, "its directory is not there", "it came incomplete: compare its checksum")
	case err != nil && !errors.Is(err, zip.ErrInsecurePath): // names are judged below
		return nil, unread(name, err)
	}
	if err := limits.checkEntries(op, len(z.File)); err != nil {
		return nil, err
	}
	bounded.left.Store(math.MaxInt64) // what follows is asked for by name
	s := newSpool(a.Spool, a.SpoolBytes)
	var t *tree
	total := int64(0)
	for _, f := range z.File {
		n, clean, err := zipNode(f, name, r, size, s)
		if err != nil {
			return nil, err
		}
		if t == nil {
			t = newTree(name, f.Modified)
		}
		if n == nil {
			continue
		}
		if total += n.info.size; total < 0 {
			total = math.MaxInt64
		}
		if err := limits.checkBytes(op, size, total); err != nil {
			return nil, err
		}
		if clean == "." && n.children == nil {
			return nil, t.clash(clean, f.Name)
		}
		before, err := t.add(clean, n)
		if err != nil {
			return nil, err
		}
		if before != nil && before.children == nil {
			return nil, broken(op, "it has %s twice", "make it anew: programs do not agree which of them counts", shown(clean))
		}
	}
	if t == nil {
		return nil, broken(op, "it is an empty zip", "make it anew, with the files that boot")
	}
	return archive{t, s}, nil
}

// zipNode is an entry of a zip with its path; no node for a device.
func zipNode(f *zip.File, what string, r io.ReaderAt, size int64, s *spool) (*node, string, error) {
	op := "read " + what
	clean, err := entryName(what, f.Name)
	if err != nil {
		return nil, "", err
	}
	n := &node{info: info{modTime: f.Modified}}
	mode := f.Mode()
	switch {
	case mode.IsDir():
		n.info.mode, n.children = modeDir, map[string]*node{}
		return n, clean, nil
	case f.Flags&zipEncrypted != 0:
		return nil, "", protocol.Errorf(protocol.CodeUnsupported, op, "%s is encrypted", shown(clean)).WithHint("make it anew without a password")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return nil, "", protocol.Errorf(protocol.CodeUnsupported, op, "%s is compressed by method %d", shown(clean), f.Method).WithHint("make it anew by zip -0")
	case f.UncompressedSize64 > math.MaxInt64, f.CompressedSize64 > uint64(size), f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
		return nil, "", broken(op, "the size of %s cannot be", "it is damaged: compare its checksum", shown(clean))
	case mode&fs.ModeSymlink != 0:
		if n.target, err = zipTarget(f, what); err != nil {
			return nil, "", err
		}
		n.info.mode = modeLink
		return n, clean, nil
	case !mode.IsRegular():
		return nil, "", nil
	}
	n.info.mode, n.info.size = modeFile, int64(f.UncompressedSize64)
	if f.Method == zip.Store {
		n.source = &stored{f: f, r: r, size: size}
	} else {
		n.source = &packed{f: f, spool: s}
	}
	return n, clean, nil
}

// zipTarget reads the target of a symbolic link, which is the content of its entry.
func zipTarget(f *zip.File, what string) (string, error) {
	if f.UncompressedSize64 > maxTarget {
		return "", linkTarget(what, f.Name, "")
	}
	in, err := f.Open()
	if err != nil {
		return "", spoiled(f.Name)
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxTarget+1))
	if err != nil {
		return "", spoiled(f.Name)
	}
	return string(b), linkTarget(what, f.Name, string(b))
}

// stored is an entry that lies in the zip as it is. Its sum is compared once, when somebody
// opens it first; that of a packed one is when it is unpacked.
type stored struct {
	f    *zip.File
	r    io.ReaderAt
	size int64 // of the zip

	once sync.Once
	err  error
}

func (s *stored) open() (io.ReaderAt, func() error, error) {
	at, err := s.f.DataOffset()
	n := int64(s.f.UncompressedSize64)
	if err != nil || at < 0 || n > s.size-at {
		return nil, nil, spoiled(s.f.Name)
	}
	s.once.Do(func() { s.err = s.compare(at, n) })
	if s.err != nil {
		return nil, nil, s.err
	}
	return io.NewSectionReader(s.r, at, n), nil, nil
}

// compare compares the content with its sum (APPNOTE 4.4.7).
func (s *stored) compare(at, n int64) error {
	sum := crc32.NewIEEE()
	if _, err := io.CopyBuffer(sum, onlyReader{io.NewSectionReader(s.r, at, n)}, make([]byte, 256<<10)); err != nil {
		return err
	}
	if sum.Sum32() != s.f.CRC32 {
		return spoiled(s.f.Name)
	}
	return nil
}

func spoiled(name string) error {
	return broken("unpack", "%s is damaged", "compare the checksum of its archive, and upload it again", shown(name))
}

var errTooMuch = errors.New("too much is read")

// firstBytes lets so many bytes be read.
type firstBytes struct {
	r    io.ReaderAt
	left atomic.Int64
}

func (f *firstBytes) ReadAt(b []byte, at int64) (int, error) {
	if f.left.Add(-int64(len(b))) < 0 {
		return 0, errTooMuch
	}
	return f.r.ReadAt(b, at)
}
