package iso

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"rackboot/protocol"
)

// File is one file of an image.
type File struct {
	Name    string // of a-z, 0-9, '-', '_' and '.'; at most 64 characters (Joliet)
	Content []byte
}

// Where what stands in an image that is written. Each table and folder has one sector.
const (
	atPrimary = iota + firstDescriptor
	atJoliet
	atEnd
	atPathsL // path tables, of the primary volume and of Joliet
	atPathsM
	atJolietPathsL
	atJolietPathsM
	atRoot
	atJolietRoot
	atFiles
)

const (
	maxFiles = 16
	maxLabel = 16 // of Joliet; of level 1 it is 32
	maxName  = 64
	// jolietLevel3 says that the names are UCS-2 (Joliet specification).
	jolietLevel3 = "%/E"
)

// Write makes an image of files in one folder. The label is of A-Z, 0-9 and '_'. The same
// arguments give the same bytes. Errors are invalid.
func Write(label string, files []File, at time.Time) ([]byte, error) {
	w := writer{label: label, at: at.UTC(), files: slices.Clone(files)}
	if err := w.check(); err != nil {
		return nil, err
	}
	next := uint32(atFiles)
	for _, f := range w.files {
		w.places = append(w.places, next)
		next += uint32(max(1, (len(f.Content)+sectorSize-1)/sectorSize))
	}
	w.sectors, w.out = next, make([]byte, int(next)*sectorSize)
	w.descriptor(atPrimary, typePrimary, atPathsL, atRoot)
	w.descriptor(atJoliet, typeSupplementary, atJolietPathsL, atJolietRoot)
	copy(w.at16(atEnd), []byte{typeTerminator, 'C', 'D', '0', '0', '1', 1})
	for i, root := range []uint32{atRoot, atJolietRoot} {
		binary.LittleEndian.PutUint32(w.paths(atPathsL + 2*uint32(i))[2:], root)
		binary.BigEndian.PutUint32(w.paths(atPathsM + 2*uint32(i))[2:], root)
	}
	for root, name := range map[uint32]func(File) []byte{
		atRoot:       func(f File) []byte { return []byte(shortName(f.Name)) },
		atJolietRoot: func(f File) []byte { return ucs2(f.Name) },
	} {
		if err := w.folder(root, name); err != nil {
			return nil, err
		}
	}
	for i, f := range w.files {
		copy(w.out[int(w.places[i])*sectorSize:], f.Content)
	}
	return w.out, nil
}

type writer struct {
	label   string
	at      time.Time
	files   []File
	places  []uint32
	sectors uint32
	out     []byte
}

func (w *writer) check() error {
	const op = "write ISO image"
	if w.label == "" || len(w.label) > maxLabel || strings.Trim(w.label, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return protocol.Errorf(protocol.CodeInvalid, op, "the label %q is not 1 to %d of A-Z, 0-9 and _", w.label, maxLabel)
	}
	if len(w.files) > maxFiles {
		return protocol.Errorf(protocol.CodeInvalid, op, "%d files, and at most %d have a place", len(w.files), maxFiles)
	}
	short := map[string]bool{}
	for _, f := range w.files {
		s := shortName(f.Name)
		if f.Name == "" || len(f.Name) > maxName || strings.Trim(f.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || short[s] {
			return protocol.Errorf(protocol.CodeInvalid, op, "the name %q is not one, or its first eight characters are another's", f.Name)
		}
		short[s] = true
	}
	return nil
}

func (w *writer) at16(sector uint32) []byte {
	return w.out[int(sector)*sectorSize : int(sector+1)*sectorSize]
}

// paths begins a path table: one record, of the root (ECMA-119 9.4). 2 of 10 bytes are set
// here, the place by the caller; the parent is the root itself.
func (w *writer) paths(sector uint32) []byte {
	t := w.at16(sector)
	t[0] = 1
	if sector == atPathsM || sector == atJolietPathsM {
		t[7] = 1
	} else {
		t[6] = 1
	}
	return t
}

// descriptor writes a volume descriptor (ECMA-119 8.4, 8.5).
func (w *writer) descriptor(sector uint32, kind byte, paths, root uint32) {
	d := w.at16(sector)
	text := func(from, to int, s string) {
		for i := from; i < to; i++ {
			d[i] = ' '
		}
		copy(d[from:to], s)
	}
	if kind == typeSupplementary {
		text = func(from, to int, s string) {
			for i := from; i+1 < to; i += 2 {
				d[i], d[i+1] = 0, ' '
			}
			copy(d[from:to], ucs2(s))
		}
		copy(d[88:], jolietLevel3)
	}
	d[0], d[6], d[881] = kind, 1, 1
	copy(d[1:], standardID)
	text(8, 40, "")
	text(40, 72, w.label)
	both32(d[80:], w.sectors)
	both16(d[120:], 1) // one volume
	both16(d[124:], 1) // of which this is the first
	both16(d[128:], sectorSize)
	both32(d[132:], 10) // bytes of a path table
	binary.LittleEndian.PutUint32(d[140:], paths)
	binary.BigEndian.PutUint32(d[148:], paths+1)
	copy(d[156:], w.record([]byte{0}, root, sectorSize, flagFolder))
	for _, f := range [][2]int{{190, 318}, {318, 446}, {446, 574}, {574, 702}, {702, 739}, {739, 776}, {776, 813}} {
		text(f[0], f[1], "")
	}
	for _, f := range []int{813, 830} { // made and changed (ECMA-119 8.4.26.1)
		copy(d[f:], w.at.Format("20060102150405")+"00")
	}
	for _, f := range []int{847, 864} { // never ends, and begins at once
		copy(d[f:], strings.Repeat("0", 16))
	}
}

// folder writes the root folder: itself, its parent, and the files in order of name.
func (w *writer) folder(sector uint32, nameOf func(File) []byte) error {
	order := make([]int, len(w.files))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(nameOf(w.files[a]), nameOf(w.files[b])) })
	all := slices.Concat(w.record([]byte{0}, sector, sectorSize, flagFolder), w.record([]byte{1}, sector, sectorSize, flagFolder))
	for _, i := range order {
		all = append(all, w.record(nameOf(w.files[i]), w.places[i], uint32(len(w.files[i].Content)), 0)...)
	}
	if len(all) > sectorSize {
		return protocol.Errorf(protocol.CodeInvalid, "write ISO image", "the names of the files do not fit into one sector")
	}
	copy(w.at16(sector), all)
	return nil
}

// record is a folder's record of a file or folder (ECMA-119 9.1).
func (w *writer) record(name []byte, place, size uint32, flags byte) []byte {
	r := make([]byte, (33+len(name)+1)&^1)
	r[0] = byte(len(r))
	both32(r[2:], place)
	both32(r[10:], size)
	copy(r[18:], []byte{byte(w.at.Year() - 1900), byte(w.at.Month()), byte(w.at.Day()), byte(w.at.Hour()), byte(w.at.Minute()), byte(w.at.Second()), 0})
	r[25] = flags
	both16(r[28:], 1)
	r[32] = byte(len(name))
	copy(r[33:], name)
	return r
}

// shortName is a name of level 1: eight characters, a dot, three, and the version.
func shortName(name string) string {
	clean := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case c >= '0' && c <= '9', c == '.':
			return c
		}
		return '_'
	}, name)
	base, ext := clean, ""
	if i := strings.LastIndexByte(clean, '.'); i >= 0 {
		base, ext = strings.ReplaceAll(clean[:i], ".", "_"), clean[i+1:]
	}
	return base[:min(len(base), 8)] + "." + ext[:min(len(ext), 3)] + ";1"
}

// ucs2 is a text as Joliet has it.
func ucs2(s string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.BigEndian.AppendUint16(out, u)
	}
	return out
}

// both32 and both16 write a number in both orders (ECMA-119 7.2.3, 7.3.3).
func both32(b []byte, v uint32) {
	binary.LittleEndian.PutUint32(b, v)
	binary.BigEndian.PutUint32(b[4:], v)
}

func both16(b []byte, v uint16) {
	binary.LittleEndian.PutUint16(b, v)
	binary.BigEndian.PutUint16(b[2:], v)
}
