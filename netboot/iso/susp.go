package iso

import "encoding/binary"

const (
	// maxContinued bounds the continuations of one record's system use area, as Linux
	// does, maxContinuation one of them, and maxContinuedBytes all those of a folder.
	maxContinued      = 32
	maxContinuation   = 32 << 10
	maxContinuedBytes = 16 << 20
	// suspHeader is a signature, a length and a version (SUSP 4.1).
	suspHeader = 4
	// xaLength are the bytes of CD-ROM XA that may come first.
	xaLength = 14
)

// continued reads continuations for the records of a folder. Those of several records
// share a block.
type continued struct {
	v     *volume
	at    int64
	block []byte
	left  int
}

func (v *volume) continued() *continued { return &continued{v: v, at: -1, left: maxContinuedBytes} }

// read reads an area that a CE entry names (SUSP 5.1).
func (c *continued) read(ce []byte) ([]byte, error) {
	at := int64(le32(ce[4:]))*c.v.block + int64(le32(ce[12:]))
	n := int64(le32(ce[20:]))
	if c.left -= int(n); n > maxContinuation || c.left < 0 {
		return nil, wrong("a system use area goes on for %d bytes at byte %d, or all of a folder are too large", n, at)
	}
	from := at - at%sectorSize
	if at+n > from+sectorSize {
		return c.v.span(at, int(n))
	}
	if from != c.at {
		block, err := c.v.span(from, int(min(sectorSize, max(at+n, c.v.size)-from)))
		if err != nil {
			return nil, err
		}
		c.at, c.block = from, block
	}
	if at+n > from+int64(len(c.block)) {
		return nil, c.v.ends(at + n)
	}
	return c.block[at-from : at-from+n], nil
}

// entries calls do for each entry of a system use area and its continuations. As much as
// is well-formed counts.
func (c *continued) entries(area []byte, do func(signature string, e []byte) error) error {
	for range maxContinued {
		var next []byte
		for len(area) >= suspHeader {
			n := int(area[2])
			if n < suspHeader || n > len(area) {
				break
			}
			e := area[:n]
			area = area[n:]
			switch signature := string(e[:2]); signature {
			case "ST":
				area = nil
			case "CE":
				if n >= 28 {
					next = e
				}
			default:
				if err := do(signature, e); err != nil {
					return err
				}
			}
		}
		if next == nil {
			return nil
		}
		var err error
		if area, err = c.read(next); err != nil {
			return err
		}
	}
	return wrong("a system use area goes on more than %d times", maxContinued)
}

// rockRidge says whether the primary tree has Rock Ridge, by the first record of the root
// folder: SP begins it, and an extension is named (ER) or used (PX).
func (v *volume) rockRidge() (names, int, error) {
	self, err := v.self(v.root.first.at)
	if err != nil {
		return plainNames, 0, err
	}
	area := self.systemUse()
	if !isSP(area) {
		if len(area) < xaLength || !isSP(area[xaLength:]) {
			return plainNames, 0, nil
		}
		area = area[xaLength:]
	}
	skip, found := int(area[6]), plainNames
	err = v.continued().entries(area, func(signature string, e []byte) error {
		if signature == "PX" || signature == "ER" && isRockRidge(e) {
			found = rockNames
		}
		return nil
	})
	return found, skip, err
}

// isSP says whether an area begins with the entry that says that SUSP is in use (SUSP 5.3).
func isSP(b []byte) bool {
	return len(b) >= 7 && string(b[:2]) == "SP" && b[2] == 7 && binary.BigEndian.Uint16(b[4:]) == 0xbeef
}

// isRockRidge says whether an ER entry names Rock Ridge, 1.09, 1.10 or 1.12 (RRIP 4.3).
func isRockRidge(e []byte) bool {
	if len(e) < 8+int(e[4]) {
		return false
	}
	switch string(e[8 : 8+int(e[4])]) {
	case "RRIP_1991A", "IEEE_P1282", "IEEE_1282":
		return true
	}
	return false
}
