package isotest

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// Tree is an image with files. Its volume descriptors are the primary one and, with
// Joliet, that one; it has no path tables, which no reader of files needs.
type Tree struct {
	Label     string
	RockRidge bool
	Joliet    bool
	XA        bool // 14 bytes of CD-ROM XA before what SUSP says
	Entries   []Entry
}

// Entry is a file, a folder or a link. The folders that it is in are made.
type Entry struct {
	Path    string
	Content []byte
	Dir     bool
	Link    string // target
	Mode    uint32 // PX, of a file or folder as the rest says if zero
	Time    time.Time
	// Away is a folder that is in rr_moved, and linked from where it belongs (RRIP 4.1.5).
	Away bool
	// Sections are where the file is, in place of Content; one more than one makes a file
	// of several sections.
	Sections []Section
	Use      []byte         // at the end of the system use area
	Change   func(r []byte) // of each finished record

	in map[string]*Entry // of a folder
}

// Section is a part of the image.
type Section struct {
	Block uint32
	Size  uint32
}

// The first sector after the descriptors, which are the same number for every tree.
const firstFree = 20

const (
	maxRecord  = 254
	nameChunk  = 100
	ceSize     = 28
	flagFolder = 0x02
	flagMore   = 0x80
	posixDir   = 0o040755
	posixFile  = 0o100644
	posixLink  = 0o120777
	movedName  = "rr_moved"
)

// Bytes is the whole image. The same tree gives the same bytes.
func (t Tree) Bytes() []byte {
	b := &builder{t: t, out: make([]byte, firstFree*Sector), content: map[string][]Section{}}
	root := &Entry{Dir: true, in: map[string]*Entry{}}
	for i := range t.Entries {
		e := t.Entries[i]
		in := root
		for dir := range strings.SplitSeq(path.Dir(e.Path), "/") {
			if dir == "." {
				continue
			}
			if in.in[dir] == nil {
				in.in[dir] = &Entry{Dir: true, in: map[string]*Entry{}}
			}
			in = in.in[dir]
		}
		e.Dir = e.Dir || e.Away
		if e.in = nil; e.Dir {
			e.in = map[string]*Entry{}
		}
		in.in[path.Base(e.Path)] = &e
	}
	b.descriptor(16, 1, b.tree(root, false))
	last := uint32(17)
	if t.Joliet {
		b.descriptor(17, 2, b.tree(root, true))
		copy(b.out[17*Sector+88:], "%/E")
		last++
	}
	copy(b.out[last*Sector:], "\xffCD001\x01")
	return b.out
}

type builder struct {
	t       Tree
	joliet  bool
	out     []byte
	content map[string][]Section // by path; the trees share the content of files
	away    []made
}

// made is a folder that is in the image.
type made struct {
	name string
	Section
	parent int // offset of its second record, which names its parent
	linked int // offset of the PL entry in that
}

// alloc adds data in sectors of their own.
func (b *builder) alloc(data []byte) uint32 {
	at := uint32(len(b.out) / Sector)
	b.out = append(b.out, data...)
	b.out = append(b.out, make([]byte, -len(b.out)&(Sector-1))...)
	if len(data) == 0 {
		b.out = append(b.out, make([]byte, Sector)...)
	}
	return at
}

func (b *builder) tree(root *Entry, joliet bool) Section {
	b.joliet, b.away = joliet, nil
	return b.folder("", root, nil).Section
}

func (b *builder) rock() bool { return b.t.RockRidge && !b.joliet }

// folder writes a folder, and what is in it first. use are entries of its first record.
func (b *builder) folder(at string, e *Entry, parentUse []byte) made {
	var records []record
	var inside, linked []made
	isRoot := at == ""
	for _, name := range sorted(e.in) {
		child := e.in[name]
		place := path.Join(at, name)
		switch {
		case child.Away && b.rock():
			m := b.folder(place, child, susp("PL", make([]byte, 8)...))
			m.name = name
			b.away, linked = append(b.away, m), append(linked, m)
			records = append(records, b.record(name, child, []Section{{0, 0}}, susp("CL", both32(m.Block)...))...)
		case child.Dir:
			m := b.folder(place, child, nil)
			inside = append(inside, m)
			records = append(records, b.record(name, child, []Section{m.Section}, nil)...)
		default:
			records = append(records, b.record(name, child, b.sections(place, child), nil)...)
		}
	}
	if isRoot && len(b.away) > 0 {
		m := b.moved()
		inside = append(inside, m)
		records = append(records, b.record(movedName, &Entry{Dir: true}, []Section{m.Section}, nil)...)
	}
	m := b.write(isRoot, records, parentUse)
	if isRoot { // its parent is itself
		inside = append(inside, m)
	}
	b.point(inside, m.Section)
	for _, a := range linked {
		copy(b.out[a.linked+4:], both32(m.Block))
	}
	return m
}

// point says in folders which one is their parent.
func (b *builder) point(inside []made, parent Section) {
	for _, m := range inside {
		copy(b.out[m.parent+2:], both32(parent.Block))
		copy(b.out[m.parent+10:], both32(parent.Size))
	}
}

// moved writes the folder of folders that are elsewhere.
func (b *builder) moved() made {
	var records []record
	for _, a := range b.away {
		records = append(records, b.record(a.name, &Entry{Dir: true}, []Section{a.Section}, susp("RE"))...)
	}
	m := b.write(false, records, nil)
	b.point(b.away, m.Section)
	return m
}

// sections is where the content of a file is.
func (b *builder) sections(at string, e *Entry) []Section {
	if e.Sections != nil || e.Link != "" {
		return slices.Concat(e.Sections, []Section{{}}[:1-min(1, len(e.Sections))])
	}
	if _, ok := b.content[at]; !ok {
		b.content[at] = []Section{{b.alloc(e.Content), uint32(len(e.Content))}}
	}
	return b.content[at]
}

// write puts a folder's records into blocks, none across two.
func (b *builder) write(isRoot bool, records []record, parentUse []byte) made {
	dot := &Entry{Dir: true}
	var first []byte
	if isRoot && b.rock() {
		first = slices.Concat(susp("SP", 0xbe, 0xef, b.skip()), susp("ER", append([]byte{10, 0, 0, 1}, "RRIP_1991A"...)...))
	}
	self := b.record("\x00", dot, []Section{{}}, first)[0]
	parent := b.record("\x01", dot, []Section{{}}, parentUse)[0]
	slices.SortStableFunc(records, func(x, y record) int { return bytes.Compare(x.id, y.id) })
	var out []byte
	var ends []int // of the records
	all := slices.Concat([]record{self, parent}, records)
	for _, r := range all {
		if len(out)%Sector+len(r.bytes) > Sector {
			out = append(out, make([]byte, Sector-len(out)%Sector)...)
		}
		out = append(out, r.bytes...)
		ends = append(ends, len(out))
	}
	out = append(out, make([]byte, -len(out)&(Sector-1))...)
	at := b.alloc(out)
	m := made{Section: Section{at, uint32(len(out))}}
	base := int(at) * Sector
	m.parent, m.linked = base+ends[0], base+ends[1]-12
	copy(b.out[base+2:], both32(at))
	copy(b.out[base+10:], both32(m.Size))
	for i, r := range all { // what did not fit goes into a sector of its own
		if r.rest != nil {
			ce := b.out[base+ends[i]-ceSize : base+ends[i]]
			copy(ce[4:], both32(b.alloc(r.rest)))
			copy(ce[20:], both32(uint32(len(r.rest))))
		}
	}
	return m
}

func (b *builder) skip() byte {
	if b.t.XA {
		return xaSize
	}
	return 0
}

func sorted(in map[string]*Entry) []string {
	names := make([]string, 0, len(in))
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// descriptor writes a volume descriptor.
func (b *builder) descriptor(sector uint32, kind byte, root Section) {
	d := b.out[sector*Sector : (sector+1)*Sector]
	d[0], d[6], d[881] = kind, 1, 1
	copy(d[1:], "CD001")
	for i := 40; i < 72; i++ {
		d[i] = ' '
	}
	copy(d[40:], b.t.Label)
	copy(d[80:], both32(uint32(len(b.out)/Sector)))
	binary.LittleEndian.PutUint16(d[128:], Sector)
	binary.BigEndian.PutUint16(d[130:], Sector)
	r := d[156:190]
	r[0], r[25], r[28], r[31], r[32] = byte(len(r)), flagFolder, 1, 1, 1
	copy(r[2:], both32(root.Block))
	copy(r[10:], both32(root.Size))
}

func both32(v uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, v)
	return binary.BigEndian.AppendUint32(b, v)
}

func ucs2(s string) (out []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.BigEndian.AppendUint16(out, u)
	}
	return out
}
