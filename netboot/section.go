package netboot

import (
	"io"
	"os"
)

// Section is what a File's content may be besides: a part of an open file, as a file in an
// ISO image that is read in place is. A server then has the kernel send it, by offset, as
// it does with an *os.File. What wraps such content must have the method too.
//
// The file stays open, and is not moved, until the content is closed; it may be shared.
// Without ok the content is somewhere else, or in several pieces, and is read.
type Section interface {
	io.ReadSeeker
	Section() (f *os.File, offset, size int64, ok bool)
}
