package iso

import (
	"io/fs"
	"time"
)

// extent is a part of the image: its first block, and its bytes.
type extent struct {
	at   uint32
	size uint32
}

// What a folder's record says about a file (ECMA-119 9.1.6).
const (
	flagFolder     = 0x02
	flagAssociated = 0x04
	flagMore       = 0x80 // another section of the file follows

	// recordName is the offset of a record's name.
	recordName = 33
	// rootRecord is the length of the record of the root folder.
	rootRecord = 34
)

// What files and folders may do where the image does not say it, as in Linux.
const (
	defaultFile   = 0o444
	defaultFolder = fs.ModeDir | 0o555
)

// fault is why a file that is listed cannot be opened.
type fault uint8

const (
	interleaved fault = 1 << iota // its sections have gaps (ECMA-119 6.4.3)
	packed                        // compressed, by zisofs
	sparse                        // with a table of its parts (RRIP 4.1.7)
	cut                           // its last section is missing
	moved                         // none: a folder that is elsewhere, whose size its own record says
)

// node is a file, folder or link.
type node struct {
	name  string
	size  int64
	time  time.Time
	mode  fs.FileMode
	first extent
	more  []extent // the sections after the first one
	link  string
	fault fault
}

// record is a folder's record (ECMA-119 9.1).
type record []byte

// name are the bytes of the identifier.
func (r record) name() []byte { return r[recordName : recordName+int(r[32])] }

// systemUse is what follows the identifier and its padding.
func (r record) systemUse() []byte {
	from := recordName + int(r[32])
	return r[min(from+1-int(r[32])&1, len(r)):]
}

// valid says whether the identifier is within the record.
func (r record) valid() bool {
	return len(r) > recordName && r[32] > 0 && recordName+int(r[32]) <= len(r)
}

// extentOf is where the data begin, which is after the extended attributes (ECMA-119
// 9.1.2). As in Linux the little-endian halves count: images exist whose others are wrong.
func extentOf(r record) extent { return extent{le32(r[2:]) + uint32(r[1]), le32(r[10:])} }

// stamp is a time of seven bytes (ECMA-119 9.1.5), or zero.
func stamp(b []byte) time.Time {
	if b[1] == 0 || b[2] == 0 {
		return time.Time{}
	}
	zone := time.Duration(int8(b[6])) * 15 * time.Minute //nolint:gosec // signed by the standard
	return time.Date(1900+int(b[0]), time.Month(b[1]), int(b[2]), int(b[3]), int(b[4]), int(b[5]), 0, time.UTC).Add(-zone)
}

// longStamp is a time of 17 bytes, of which 16 are digits (ECMA-119 8.4.26.1), or zero.
func longStamp(b []byte) time.Time {
	t, err := time.Parse("20060102150405", string(b[:14]))
	if err != nil {
		return time.Time{}
	}
	return t.Add(-time.Duration(int8(b[16])) * 15 * time.Minute) //nolint:gosec // signed by the standard
}
