package httpboot

import (
	"errors"
	"io"
	"os"
	"syscall"

	"rackboot/netboot"
)

// sendChunk is the most that one call of sendfile is asked for, so that a fast client
// does not keep its place for long.
const sendChunk = 1 << 20

// writeMore writes what is not to leave before what is written next does: MSG_MORE of
// send(2). A header and its file are one packet then, and wake the client once.
func (c *fileConn) writeMore(p []byte) error {
	if c.out == nil {
		_, err := c.Write(p)
		return err
	}
	for call := &c.sending; len(p) > 0; {
		call.bytes = p
		err := c.out.Write(call.more)
		if err == nil && call.err != nil && !errors.Is(call.err, syscall.EINTR) {
			err = os.NewSyscallError("sendmsg", call.err)
		}
		if err != nil {
			return err
		}
		p = p[max(call.got, 0):]
	}
	return nil
}

// ReadFrom sends files by sendfile(2), as net.TCPConn does, but only as many at a time
// as there are processors. The Go scheduler gives the processor of a call that takes
// longer than 20 µs, as these do, to another thread; with hundreds of clients that
// makes hundreds of threads which copy at once, fill every client's buffer little by
// little and leave nothing of it in the caches: a byte cost client and server together
// a third more CPU than with a few at a time. A place is held for one call, which
// never waits for a client; for the disk it does where a file is not in memory.
func (c *fileConn) ReadFrom(r io.Reader) (sent int64, err error) {
	limit, ok := r.(*io.LimitedReader)
	if !ok || c.out == nil {
		return c.fileSender.ReadFrom(r)
	}
	p, ok := partOf(limit.R, limit.N)
	if !ok {
		return c.fileSender.ReadFrom(r)
	}
	in, err := p.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	// The file stays open meanwhile, and the connection where it is.
	if cerr := in.Control(func(from uintptr) { c.send(int(from), p) }); cerr != nil {
		return 0, cerr
	}
	sent, err = c.sending.sent, c.sending.failed
	limit.N -= sent
	if p.section != nil { // the kernel moved nothing but the offset
		if _, serr := p.section.Seek(sent, io.SeekCurrent); serr != nil {
			return sent, errors.Join(err, serr)
		}
	}
	return sent, err
}

// part is what is to be sent of a file: so many bytes from an offset of a section, or from
// where the file is.
type part struct {
	file    *os.File
	offset  int64
	n       int64
	section netboot.Section // nil for a file of its own
}

// partOf is what the next n bytes of a reader are of a file, if they are.
func partOf(r io.Reader, n int64) (part, bool) {
	switch r := r.(type) {
	case *os.File:
		return part{file: r, n: n}, true
	case netboot.Section:
		file, offset, size, ok := r.Section()
		if !ok {
			return part{}, false
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil || at > size {
			return part{}, false
		}
		return part{file: file, offset: offset + at, n: min(n, size-at), section: r}, true
	}
	return part{}, false
}

// send sends a part, of the file that is open as from. It waits for the client until the
// connection's deadline.
func (c *fileConn) send(from int, p part) {
	call := &c.sending
	call.from, call.at, call.sent, call.failed = from, nil, 0, nil
	if p.section != nil {
		call.offset = p.offset
		call.at = &call.offset
	}
	for call.sent < p.n && call.failed == nil {
		call.most = int(min(p.n-call.sent, sendChunk))
		err := c.out.Write(call.file)
		switch {
		case err != nil:
			call.failed = err
		case errors.Is(call.err, syscall.EINTR):
		case call.err != nil:
			call.failed = os.NewSyscallError("sendfile", call.err)
		case call.got == 0:
			return // the file is shorter than it was
		default:
			call.sent += int64(call.got)
		}
	}
}

// sending is the call that a connection makes now, and what came of it. It is kept with the
// connection, so that a call allocates nothing.
type sending struct {
	bytes  []byte // of more
	from   int    // of file: what is open,
	at     *int64 // an offset, or nil for where the file is,
	offset int64  // which is here,
	most   int    // and how many bytes

	got    int
	err    error
	sent   int64 // by several calls
	failed error

	more, file func(to uintptr) (done bool) // the calls
}

func (s *sending) bind(places chan struct{}) {
	s.more = func(to uintptr) bool {
		s.got, s.err = syscall.SendmsgN(int(to), s.bytes, nil, nil, syscall.MSG_MORE)
		return !errors.Is(s.err, syscall.EAGAIN)
	}
	s.file = func(to uintptr) bool {
		places <- struct{}{}
		s.got, s.err = syscall.Sendfile(int(to), s.from, s.at, s.most)
		<-places
		return !errors.Is(s.err, syscall.EAGAIN)
	}
}
