package fsview

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"rackboot/protocol"
)

// Places in a tar header (POSIX.1-2017, pax, "ustar Interchange Format").
const (
	tarBlock   = 512
	tarSumAt   = 148
	tarSumSize = 8
	tarMagicAt = 257
)

// isTar knows a header by its magic, or in the old form by its sum.
func isTar(head []byte) bool {
	if len(head) < tarBlock || head[0] == 0 {
		return false
	}
	if bytes.HasPrefix(head[tarMagicAt:], []byte("ustar")) {
		return true
	}
	field := strings.Trim(string(head[tarSumAt:tarSumAt+tarSumSize]), " \x00")
	want, err := strconv.ParseUint(field, 8, 32)
	if err != nil {
		return false
	}
	sum := uint64(tarSumSize * ' ')
	for i, b := range head[:tarBlock] {
		if i < tarSumAt || i >= tarSumAt+tarSumSize {
			sum += uint64(b)
		}
	}
	return sum == want
}

// Types of old GNU tar that archive/tar has no names for.
const (
	gnuDump   = 'D' // a directory with what was in it
	gnuVolume = 'V' // the label
	gnuMulti  = 'M' // the rest of a file that another volume begins
)

// tarKind says what an entry of a tar is for us. Devices, FIFOs and what is about the tar
// itself is left out. What is in pieces is refused: sparse files, in GNU's form or by PAX
// records, and parts of what other volumes have; and so are types that nobody knows.
func tarKind(h *tar.Header) (tarEntry, error) {
	const op = "read tar"
	sparse := h.Typeflag == tar.TypeGNUSparse
	for key := range h.PAXRecords {
		sparse = sparse || strings.HasPrefix(key, "GNU.sparse.")
	}
	if sparse {
		return "", protocol.Errorf(protocol.CodeUnsupported, op, "%s is sparse", shown(h.Name)).WithHint("make it anew without --sparse")
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont:
		return tarFile, nil
	case tar.TypeDir, gnuDump:
		return tarDir, nil
	case tar.TypeLink:
		return tarLink, nil
	case tar.TypeSymlink:
		return tarSymlink, nil
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo, tar.TypeXGlobalHeader, gnuVolume:
		return tarNothing, nil
	case gnuMulti:
		return "", protocol.Errorf(protocol.CodeUnsupported, op, "it is one volume of several").WithHint("make it anew without --multi-volume")
	}
	return "", protocol.Errorf(protocol.CodeUnsupported, op, "%s is of type %q", shown(h.Name), h.Typeflag).WithHint("make it anew by GNU tar or bsdtar")
}

// tarEntry is what an entry of a tar is for us.
type tarEntry string

const (
	tarFile    tarEntry = "file"
	tarDir     tarEntry = "directory"
	tarLink    tarEntry = "link"
	tarSymlink tarEntry = "symlink"
	tarNothing tarEntry = "left out"
)

// openTar reads all headers once; contents are read where they lie.
func openTar(a Archiver, r io.ReaderAt, size int64, name string) (fs.FS, error) {
	t, err := indexTar(io.NewSectionReader(r, 0, size), size, name, a.Limits.filled())
	if err != nil {
		return nil, err
	}
	return t, nil
}

// indexTar reads a tar to its end, for a tree that reads files out of r.
func indexTar(r *io.SectionReader, size int64, name string, limits Limits) (*tree, error) {
	w := tarWalk{limits: limits, what: name}
	in := tar.NewReader(r)
	var t *tree
	end := int64(0) // of the last entry
	for {
		h, kind, clean, err := w.next(in)
		if errors.Is(err, io.EOF) {
			if err := w.ended(r, end); err != nil {
				return nil, err
			}
			break
		}
		if err != nil {
			return nil, unread(name, err)
		}
		if end, err = r.Seek(0, io.SeekCurrent); err != nil {
			return nil, unread(name, err)
		}
		end += (max(0, h.Size) + tarBlock - 1) / tarBlock * tarBlock
		if t == nil {
			t = newTree(name, h.ModTime) // directories that have no entry need some time
		}
		n := &node{info: info{modTime: h.ModTime}}
		switch kind {
		case tarNothing:
			continue
		case tarDir:
			n.info.mode, n.children = modeDir, map[string]*node{}
		case tarSymlink:
			n.info.mode, n.target = modeLink, h.Linkname
		case tarLink:
			to, err := w.linked(t, h)
			if err != nil {
				return nil, err
			}
			n.info.mode, n.info.size, n.source, n.target = to.info.mode, to.info.size, to.source, to.target
		case tarFile:
			at, err := r.Seek(0, io.SeekCurrent) // archive/tar reads no further than it must
			if err != nil || h.Size > size-at {
				return nil, w.cut(shown(h.Name))
			}
			n.info.mode, n.info.size, n.source = modeFile, h.Size, span{io.NewSectionReader(r, at, h.Size)}
		}
		if clean == "." && kind != tarDir {
			return nil, t.clash(clean, h.Name)
		}
		if _, err := t.add(clean, n); err != nil {
			return nil, err
		}
	}
	if t == nil {
		return nil, broken("read "+name, "it is an empty tar", "make it anew, with the files that boot")
	}
	return t, nil
}

// tarWalk goes through the entries of a tar.
type tarWalk struct {
	limits  Limits
	what    string
	entries int
}

// next is the next entry with a clean name, or io.EOF.
func (w *tarWalk) next(in *tar.Reader) (h *tar.Header, kind tarEntry, clean string, err error) {
	h, err = in.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, "", "", io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, "", "", w.cut("an entry")
	case errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrFieldTooLong):
		return nil, "", "", broken("read "+w.what, "the header after %d entries is none of a tar", "it is damaged: compare its checksum", w.entries)
	case err != nil && !errors.Is(err, tar.ErrInsecurePath): // names are judged below
		return nil, "", "", err
	}
	w.entries++
	if err := w.limits.checkEntries("read "+w.what, w.entries); err != nil {
		return nil, "", "", err
	}
	if kind, err = tarKind(h); err != nil || kind == tarNothing {
		return h, kind, "", err
	}
	if clean, err = entryName(w.what, h.Name); err != nil {
		return nil, "", "", err
	}
	if kind == tarSymlink {
		err = linkTarget(w.what, h.Name, h.Linkname)
	}
	return h, kind, clean, err
}

// linked is the file that a hard link is, which came before.
func (w *tarWalk) linked(t *tree, h *tar.Header) (*node, error) {
	name, err := entryName(w.what, h.Linkname)
	if err != nil {
		return nil, err
	}
	at := t.root
	for part := range strings.SplitSeq(name, "/") {
		if at = at.children[part]; at == nil {
			break
		}
	}
	if at == nil || at.children != nil {
		return nil, broken("read "+w.what, "%s is a hard link to %s, which is not before it", "make it anew, with both", shown(h.Name), shown(h.Linkname))
	}
	return at, nil
}

// ended wants the mark of the end behind the last entry: a block of zeros (POSIX.1-2017, pax,
// "ustar Interchange Format": two; some write one). A tar that is cut off between two
// entries has none, and looks whole but for that.
func (w *tarWalk) ended(r *io.SectionReader, end int64) error {
	if r.Size()-end < tarBlock {
		return w.cut("its entries, without the mark of its end")
	}
	return nil
}

func (w *tarWalk) cut(where string) error {
	return broken("read "+w.what, "it ends in %s", "it came incomplete: compare its checksum", where)
}

// span is content that lies in the archive's file.
type span struct{ *io.SectionReader }

func (s span) open() (io.ReaderAt, func() error, error) { return s.SectionReader, nil, nil }
