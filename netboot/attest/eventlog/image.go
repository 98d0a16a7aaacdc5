package eventlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf16"
)

// Image is a UEFI_IMAGE_LOAD_EVENT (PFP 1.06 section 10.2.3). The digest of its event is that of
// the PE image, as Authenticode hashes it; nothing of this is in it.
type Image struct {
	Address, Size uint64
	Path          []byte // of the device that it came from
}

// ParseImage reads the data of an event of an image.
func ParseImage(data []byte) (i Image, ok bool) {
	c := &cursor{rest: data}
	i.Address, i.Size = c.uint64(), c.uint64()
	c.uint64() // the address that it was linked for
	size := c.uint64()
	if c.short || size != uint64(len(c.rest)) {
		return Image{}, false
	}
	i.Path = c.rest
	return i, true
}

// Kinds of nodes of a device path (UEFI 2.10 section 10.3), type and subtype.
const (
	nodePCI    = 0x0101
	nodeACPI   = 0x0201
	nodeMAC    = 0x030b
	nodeIPv4   = 0x030c
	nodeIPv6   = 0x030d
	nodeURI    = 0x0318
	nodeDisk   = 0x0401
	nodeFile   = 0x0404
	nodeFVFile = 0x0406
	nodeFV     = 0x0407
	nodeEnd    = 0x7f

	maxNodes = 64
)

// PathText writes a device path as UEFI shells do, for people: what it does not know is
// Path(type,subtype), and what is broken ends it.
func PathText(path []byte) string {
	var nodes []string
	for len(path) >= 4 && path[0] != nodeEnd && len(nodes) < maxNodes {
		size := int(binary.LittleEndian.Uint16(path[2:]))
		if size < 4 || size > len(path) {
			nodes = append(nodes, "?")
			break
		}
		nodes = append(nodes, nodeText(int(path[0])<<8|int(path[1]), path[4:size]))
		path = path[size:]
	}
	return strings.Join(nodes, "/")
}

func nodeText(kind int, b []byte) string {
	switch {
	case kind == nodePCI && len(b) == 2:
		return fmt.Sprintf("Pci(%#x,%#x)", b[1], b[0])
	case kind == nodeACPI && len(b) == 8:
		return fmt.Sprintf("Acpi(%#x,%#x)", binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]))
	case kind == nodeMAC && len(b) == 33:
		return fmt.Sprintf("MAC(%x)", b[:6])
	case kind == nodeIPv4 && len(b) >= 8:
		return fmt.Sprintf("IPv4(%s)", netip.AddrFrom4([4]byte(b[4:8])))
	case kind == nodeIPv6 && len(b) >= 32:
		return fmt.Sprintf("IPv6(%s)", netip.AddrFrom16([16]byte(b[16:32])))
	case kind == nodeURI:
		return fmt.Sprintf("Uri(%s)", b)
	case kind == nodeDisk && len(b) == 38:
		return fmt.Sprintf("HD(%d,%s)", binary.LittleEndian.Uint32(b), GUID(b[20:36]))
	case kind == nodeFile:
		wide := make([]uint16, len(b)/2)
		for i := range wide {
			wide[i] = binary.LittleEndian.Uint16(b[2*i:])
		}
		return strings.TrimRight(string(utf16.Decode(wide)), "\x00")
	case kind == nodeFVFile && len(b) == 16:
		return fmt.Sprintf("FvFile(%s)", GUID(b))
	case kind == nodeFV && len(b) == 16:
		return fmt.Sprintf("Fv(%s)", GUID(b))
	}
	return fmt.Sprintf("Path(%d,%d)", kind>>8, kind&0xff)
}

// IsSeparator reports whether an event's data is what firmware writes between its own
// measurements and those of what it starts: 4 bytes of zeros, or of ones (PFP 1.06 section
// 10.4.1). Any other value says that firmware failed.
func IsSeparator(data []byte) bool {
	return bytes.Equal(data, []byte{0, 0, 0, 0}) || bytes.Equal(data, []byte{0xff, 0xff, 0xff, 0xff})
}
