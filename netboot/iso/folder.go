package iso

import (
	"slices"
	"sort"
	"strings"
)

const (
	// maxFolder bounds a folder's bytes, maxEntries its entries, and maxSections the
	// sections of a file, which are of 4 GiB. The largest known folders, of distributions
	// that have all packages in one, have some 10,000 entries.
	maxFolder   = 16 << 20
	maxEntries  = 1 << 16
	maxSections = 1024
)

// folder is a folder that was read, in order of names.
type folder struct {
	nodes []node
	cost  int // bytes, about
}

// find is the node of a name; in any case of letters unless names have Rock Ridge.
func (d *folder) find(name string, fold bool) (*node, bool) {
	i := sort.Search(len(d.nodes), func(i int) bool { return d.nodes[i].name >= name })
	if i < len(d.nodes) && d.nodes[i].name == name {
		return &d.nodes[i], true
	}
	if fold {
		if i = slices.IndexFunc(d.nodes, func(n node) bool { return strings.EqualFold(n.name, name) }); i >= 0 {
			return &d.nodes[i], true
		}
	}
	return nil, false
}

// self reads the first record of a folder, which is the folder's own (ECMA-119 6.8.2.2).
func (v *volume) self(at uint32) (record, error) {
	head, err := v.span(int64(at)*v.block, 1)
	if err != nil {
		return nil, err
	}
	b, err := v.span(int64(at)*v.block, int(head[0]))
	if err != nil {
		return nil, err
	}
	if r := record(b); r.valid() && r[32] == 1 && r[recordName] == 0 && r[25]&flagFolder != 0 {
		return r, nil
	}
	return nil, wrong("at byte %d there is no folder", int64(at)*v.block)
}

// readFolder reads all of a folder.
func (v *volume) readFolder(n node) (*folder, error) {
	place := n.first
	if n.fault&moved != 0 { // whose size its own record says
		self, err := v.self(place.at)
		if err != nil {
			return nil, err
		}
		place.size = le32(self[10:])
	}
	at := int64(place.at) * v.block
	if place.size > maxFolder {
		return nil, wrong("the folder at byte %d has %d bytes; at most %d are read", at, place.size, maxFolder)
	}
	raw, err := v.span(at, int(place.size))
	if err != nil {
		return nil, err
	}
	p := parser{v: v, continued: v.continued()}
	for off := 0; off < len(raw); {
		size := int(raw[off])
		if size == 0 { // the rest of the block is empty
			off = (off/int(v.block) + 1) * int(v.block)
			continue
		}
		r := record(raw[off:min(off+size, len(raw))])
		if len(r) < size || !r.valid() {
			return nil, wrong("the folder at byte %d is damaged at byte %d", at, at+int64(off))
		}
		if err := p.take(r); err != nil {
			return nil, err
		}
		off += size
	}
	return p.folder(), nil
}

// parser puts records together.
type parser struct {
	v         *volume
	continued *continued
	nodes     []node
	open      []byte // identifier of the file whose next section follows
	skipping  bool   // and that is not listed
}

func (p *parser) take(r record) error {
	id := r.name()
	if len(id) == 1 && id[0] <= 1 || r[25]&flagAssociated != 0 { // itself, its parent, a resource fork
		return nil
	}
	if p.open != nil && string(p.open) == string(id) {
		return p.section(r)
	}
	p.close()
	n := node{first: extentOf(r), mode: defaultFile, time: stamp(r[18:25])}
	if r[26] != 0 || r[27] != 0 {
		n.fault = interleaved
	}
	n.size = int64(n.first.size)
	if r[25]&flagFolder != 0 {
		n.mode, n.fault = defaultFolder, 0
	}
	var rr rock
	switch p.v.names {
	case jolietNames:
		n.name = jolietName(id)
	case plainNames:
		n.name = plainName(id)
	case rockNames:
		n.name = plainName(id)
		use := r.systemUse()
		if err := p.continued.entries(use[min(p.v.skip, len(use)):], rr.take); err != nil {
			return err
		}
		rr.apply(&n)
	}
	if n.mode.IsDir() {
		n.size = 0
	} else if r[25]&flagMore != 0 {
		p.open = slices.Clone(id)
	}
	n.name = clean(n.name)
	if p.skipping = rr.moved || n.name == ""; p.skipping {
		return nil
	}
	if len(p.nodes) == maxEntries {
		return wrong("a folder has more than %d entries", maxEntries)
	}
	p.nodes = append(p.nodes, n)
	return nil
}

// section adds to the file that is open.
func (p *parser) section(r record) error {
	if r[25]&flagMore == 0 {
		p.open = nil
	}
	if p.skipping {
		return nil
	}
	n := &p.nodes[len(p.nodes)-1]
	if len(n.more) == maxSections-1 {
		return wrong("the file %q has more than %d sections", n.name, maxSections)
	}
	if r[26] != 0 || r[27] != 0 {
		n.fault |= interleaved
	}
	e := extentOf(r)
	n.more = append(n.more, e)
	if n.mode.IsRegular() {
		n.size += int64(e.size)
	}
	return nil
}

// close ends a file, whose last section is missing if it is open.
func (p *parser) close() {
	if p.open != nil && !p.skipping {
		p.nodes[len(p.nodes)-1].fault |= cut
	}
	p.open = nil
}

// folder sorts the nodes. Of several with one name the first counts: it is the newest
// version (ECMA-119 9.3).
func (p *parser) folder() *folder {
	p.close()
	slices.SortStableFunc(p.nodes, func(a, b node) int { return strings.Compare(a.name, b.name) })
	p.nodes = slices.CompactFunc(p.nodes, func(a, b node) bool { return a.name == b.name })
	d := &folder{nodes: slices.Clip(p.nodes)}
	for i := range d.nodes {
		n := &d.nodes[i]
		d.cost += nodeCost + len(n.name) + len(n.link) + 8*len(n.more)
	}
	return d
}
