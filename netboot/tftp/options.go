package tftp

import (
	"encoding/binary"
	"strconv"
	"time"
)

// Names of the options that are known.
const (
	optBlksize    = "blksize"    // RFC 2348
	optTimeout    = "timeout"    // RFC 2349
	optTsize      = "tsize"      // RFC 2349
	optWindowsize = "windowsize" // RFC 7440
)

const (
	plainBlksize = 512   // without the option (RFC 1350 section 2)
	minBlksize   = 8     // RFC 2348
	maxBlksize   = 65464 // RFC 2348
	maxTimeout   = 255   // RFC 2349
	// maxWindow is where more gains nothing: RFC 7440 section 6 sees the curve
	// flatten at 64.
	maxWindow = 64
)

// terms is what a transfer runs by.
type terms struct {
	blksize int
	window  int
	timer   time.Duration // until a window is sent again, at most
	fixed   bool          // and not earlier: the client asked for it
	// oack answers the options; nil where there is none to answer, and then the
	// transfer begins with DATA.
	oack []byte
}

// agree answers the options of a request for a file of size bytes. EDK2 refuses an
// OACK with an option that it did not ask for, with a larger blksize or windowsize
// than it asked for, or with another timeout; so does RFC 2347 to 2349. ceiling is
// the largest blksize; room is how many bytes of blocks may be in memory, and
// makes the window smaller, down to one block.
func agree(a asked, size int64, ceiling, room int, timer time.Duration) terms {
	t := terms{blksize: plainBlksize, window: 1, timer: timer}
	b := binary.BigEndian.AppendUint16(nil, opOACK)
	none := len(b)
	add := func(option string, value int64) {
		b = append(append(b, option...), 0)
		b = append(strconv.AppendInt(b, value, 10), 0)
	}
	if a.blksize > 0 {
		t.blksize = min(a.blksize, ceiling)
		add(optBlksize, int64(t.blksize))
	}
	if a.windowsize > 0 {
		t.window = max(1, min(a.windowsize, maxWindow, room/(headerSize+t.blksize)))
		add(optWindowsize, int64(t.window))
	}
	if a.timeout > 0 {
		t.timer, t.fixed = time.Duration(a.timeout)*time.Second, true
		add(optTimeout, int64(a.timeout))
	}
	if a.tsize {
		add(optTsize, size)
	}
	if len(b) > none {
		t.oack = b
	}
	return t
}
