package isotest

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// record is one of a folder, and what of its system use area did not fit.
type record struct {
	id    []byte
	bytes []byte
	rest  []byte
}

const xaSize = 14

// record makes the records of a file or folder, one for each section. use comes at the end
// of its system use area.
func (b *builder) record(name string, e *Entry, sections []Section, use []byte) (out []record) {
	id := b.id(name, e)
	var area []byte
	if b.rock() {
		area = b.rockRidge(name, e, use)
	}
	folder := e.Dir && (!e.Away || !b.rock())
	for i, s := range sections {
		r := make([]byte, (33+len(id)+1)&^1)
		copy(r[2:], both32(s.Block))
		copy(r[10:], both32(s.Size))
		copy(r[18:], stamp(e.Time))
		if folder {
			r[25] = flagFolder
		}
		if i < len(sections)-1 {
			r[25] |= flagMore
		}
		r[28], r[31], r[32] = 1, 1, byte(len(id))
		copy(r[33:], id)
		var rest []byte
		if r, rest = fill(r, area); rest != nil {
			r = append(r, susp("CE", make([]byte, ceSize-4)...)...)
		}
		r[0] = byte(len(r))
		if e.Change != nil {
			e.Change(r)
		}
		out = append(out, record{id, r, rest})
	}
	return out
}

// fill adds entries of an area to a record; rest is what does not fit, beside an entry that
// says where it is.
func fill(r, area []byte) (record, rest []byte) {
	if len(r)+len(area) <= maxRecord {
		return append(r, area...), nil
	}
	for len(area) > 0 {
		n := int(area[2])
		if len(area) >= xaSize && area[0] == 0 { // XA, which is no entry
			n = xaSize
		}
		if len(r)+n+ceSize > maxRecord {
			break
		}
		r, area = append(r, area[:n]...), area[n:]
	}
	return r, area
}

// rockRidge is a system use area. Its length is even.
func (b *builder) rockRidge(name string, e *Entry, use []byte) (area []byte) {
	if b.t.XA {
		area = make([]byte, xaSize)
		copy(area[6:], "XA")
	}
	if strings.HasPrefix(string(use), "SP") { // which begins the area
		area, use = append(area, use[:7]...), use[7:]
	}
	mode := e.Mode
	switch {
	case mode != 0:
	case e.Dir:
		mode = posixDir
	case e.Link != "":
		mode = posixLink
	default:
		mode = posixFile
	}
	area = append(area, susp("PX", slices.Concat(both32(mode), both32(1), both32(0), both32(0))...)...)
	if !e.Time.IsZero() {
		area = append(area, susp("TF", append([]byte{0x03}, slices.Concat(stamp(e.Time.AddDate(-1, 0, 0)), stamp(e.Time))...)...)...)
	}
	if name > "\x01" {
		for left := name; left != ""; {
			n := min(nameChunk, len(left))
			flags := byte(0)
			if n < len(left) {
				flags = 1
			}
			area = append(area, susp("NM", append([]byte{flags}, left[:n]...)...)...)
			left = left[n:]
		}
	}
	if e.Link != "" {
		area = append(area, links(e.Link)...)
	}
	area = append(area, slices.Concat(e.Use, use)...)
	if len(area)%2 == 1 {
		area = slices.Insert(area, len(area)-len(use), susp("PD", 0)...)
	}
	return area
}

// links are SL entries, one for each component; those that are long have several.
func links(target string) (out []byte) {
	var parts [][]byte
	for i, p := range strings.Split(target, "/") {
		switch {
		case p == "" && i == 0:
			parts = append(parts, []byte{8, 0})
		case p == ".":
			parts = append(parts, []byte{2, 0})
		case p == "..":
			parts = append(parts, []byte{4, 0})
		default:
			for len(p) > nameChunk {
				parts = append(parts, append([]byte{1, nameChunk}, p[:nameChunk]...))
				p = p[nameChunk:]
			}
			parts = append(parts, append([]byte{0, byte(len(p))}, p...))
		}
	}
	for i, p := range parts {
		flags := byte(0)
		if i < len(parts)-1 {
			flags = 1
		}
		out = append(out, susp("SL", append([]byte{flags}, p...)...)...)
	}
	return out
}

// susp is an entry of a system use area.
func susp(signature string, data ...byte) []byte {
	return append([]byte{signature[0], signature[1], byte(4 + len(data)), 1}, data...)
}

func stamp(t time.Time) []byte {
	if t.IsZero() {
		return make([]byte, 7)
	}
	_, zone := t.Zone()
	return []byte{byte(t.Year() - 1900), byte(t.Month()), byte(t.Day()), byte(t.Hour()), byte(t.Minute()), byte(t.Second()), byte(zone / 900)}
}

// id is the identifier of a name: of level 1 in the primary tree, which it does not make
// unique, and of Joliet in the other.
func (b *builder) id(name string, e *Entry) []byte {
	if name <= "\x01" && len(name) == 1 {
		return []byte(name)
	}
	if b.joliet {
		u := ucs2(name)
		if u = u[:min(len(u), 128)]; !e.Dir {
			u = append(u, 0, ';', 0, '1')
		}
		return u
	}
	base, ext, _ := strings.Cut(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c - 'a' + 'A'
		}
		if c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' {
			return c
		}
		return '_'
	}, name), ".")
	if len(base) > 8 { // several of a folder differ, mostly
		sum := uint32(0)
		for _, c := range []byte(name) {
			sum = sum*31 + uint32(c)
		}
		base = base[:4] + string(binary.BigEndian.AppendUint32(nil, 0x41414141+sum&0x07070707+sum>>4&0x08080808))
	}
	if e.Dir {
		return []byte(base)
	}
	return []byte(base + "." + strings.ReplaceAll(ext[:min(3, len(ext))], ".", "_") + ";1")
}
