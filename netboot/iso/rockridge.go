package iso

import (
	"io/fs"
	"math/bits"
	"strings"
	"time"
)

// What entries of Rock Ridge say (RRIP 1.12, section 4.1).
const (
	nameCurrent = 0x02 // NM: the name is "."
	nameParent  = 0x04

	partContinues = 0x01 // SL: the next component belongs to this one
	partCurrent   = 0x02
	partParent    = 0x04
	partRoot      = 0x08
	partOther     = 0x30 // a volume's root and a host's name: they lead elsewhere

	timeCreated  = 0x01 // TF
	timeModified = 0x02
	timeLong     = 0x80

	posixType    = 0o170000 // PX
	posixFolder  = 0o040000
	posixLink    = 0o120000
	posixChar    = 0o020000
	posixBlock   = 0o060000
	posixFIFO    = 0o010000
	posixSocket  = 0o140000
	posixPerm    = 0o777
	maxLinkBytes = 4096
)

// rock is what the entries of one record say.
type rock struct {
	name     []byte
	parts    []string // of a link
	absolute bool
	joins    bool // the next component belongs to the last one
	isLink   bool
	posix    uint32
	hasPosix bool
	time     time.Time
	child    uint32 // where a moved folder is
	hasChild bool
	moved    bool // it is where a moved folder is, and listed where it belongs
	fault    fault
}

// take reads one entry.
func (r *rock) take(signature string, e []byte) error {
	switch signature {
	case "NM":
		if len(e) > 5 && e[4]&(nameCurrent|nameParent) == 0 && len(r.name)+len(e)-5 <= maxNameLen {
			r.name = append(r.name, e[5:]...)
		}
	case "PX":
		if len(e) >= 12 {
			r.posix, r.hasPosix = le32(e[4:]), true
		}
	case "SL":
		return r.takeLink(e)
	case "TF":
		r.takeTime(e)
	case "CL":
		if len(e) >= 12 {
			r.child, r.hasChild = le32(e[4:]), true
		}
	case "RE":
		r.moved = true
	case "ZF", "ZL":
		r.fault |= packed
	case "SF":
		r.fault |= sparse
	}
	return nil
}

// takeLink reads components of a link's target.
func (r *rock) takeLink(e []byte) error {
	r.isLink = true
	for e = e[min(5, len(e)):]; len(e) >= 2; {
		flags, n := e[0], 2+int(e[1])
		if n > len(e) {
			return nil // as much as is well-formed counts
		}
		text := string(e[2:n])
		e = e[n:]
		switch {
		case flags&(partRoot|partOther) != 0:
			r.parts, r.absolute, r.joins = nil, true, false
			continue
		case flags&partCurrent != 0:
			text = "."
		case flags&partParent != 0:
			text = ".."
		}
		if r.joins {
			r.parts[len(r.parts)-1] += text
		} else {
			r.parts = append(r.parts, text)
		}
		r.joins = flags&partContinues != 0
	}
	size := 0
	for _, p := range r.parts {
		size += len(p) + 1
	}
	if size > maxLinkBytes {
		return wrong("the target of a link has more than %d bytes", maxLinkBytes)
	}
	return nil
}

// takeTime reads when the file was modified; what some writers have for that is when it
// was made.
func (r *rock) takeTime(e []byte) {
	if len(e) < 5 || e[4]&(timeCreated|timeModified) == 0 {
		return
	}
	before, size, parse := 0, 7, stamp
	if e[4]&timeModified != 0 {
		before = bits.OnesCount8(e[4] & timeCreated)
	}
	if e[4]&timeLong != 0 {
		size, parse = 17, longStamp
	}
	if from := 5 + before*size; from+size <= len(e) {
		r.time = parse(e[from : from+size])
	}
}

// apply says it of a node.
func (r *rock) apply(n *node) {
	if r.name != nil {
		n.name = string(r.name)
	}
	if !r.time.IsZero() {
		n.time = r.time
	}
	n.fault |= r.fault
	if r.hasChild {
		n.first, n.mode, n.fault = extent{at: r.child}, defaultFolder, moved
	}
	if r.hasPosix {
		n.mode = n.mode.Type() | fs.FileMode(r.posix&posixPerm)
	}
	if n.mode.IsDir() {
		return
	}
	switch {
	case r.isLink && (!r.hasPosix || r.posix&posixType == posixLink):
		n.mode |= fs.ModeSymlink
		if n.link = strings.Join(r.parts, "/"); r.absolute {
			n.link = "/" + n.link
		}
		n.size = int64(len(n.link))
	case !r.hasPosix:
	default:
		n.mode |= special(r.posix)
	}
}

// special is the type of what is neither file nor folder. A link without a target is none
// that leads anywhere.
func special(posix uint32) fs.FileMode {
	switch posix & posixType {
	case posixLink, posixFolder:
		return fs.ModeIrregular
	case posixChar:
		return fs.ModeDevice | fs.ModeCharDevice
	case posixBlock:
		return fs.ModeDevice
	case posixFIFO:
		return fs.ModeNamedPipe
	case posixSocket:
		return fs.ModeSocket
	}
	return 0
}
