package httpboot

import (
	"bytes"
	"errors"
	"net/http"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
)

// slack is how much earlier or later than said a deadline may be, so that not each request
// moves it.
const slack = time.Second

// link is one connection of a front. Its methods are called by its own goroutine.
type link struct {
	front  *front
	conn   accepted
	remote string
	waits  atomic.Bool // for a request

	in       [headSize]byte
	from, to int // of in: what was read and not used
	request  request
	answer   answer

	readBy, writeBy time.Time // deadlines as they are set
	day             date
}

func newLink(f *front, c accepted) *link {
	l := &link{front: f, conn: c, remote: c.RemoteAddr().String()}
	l.request.header, l.answer.header = make(http.Header), make(http.Header)
	l.answer.link = l
	return l
}

// serve answers requests until the connection ends or is passed on.
func (l *link) serve() {
	defer l.front.left(l)
	if c, ok := l.conn.(*secured); ok {
		if err := c.begin(); err != nil {
			if !l.front.stopping.Load() {
				l.front.log.Warn("https boot handshake failed", "remote", l.remote, "err", err)
			}
			_ = c.Close() // the client has heard why
			return
		}
	}
	for first := true; ; first = false {
		if !l.front.rest(l) {
			break
		}
		size, whole, err := l.head(first)
		if l.waits.Store(false); err != nil {
			break
		}
		asked, ok := (*http.Request)(nil), false
		if whole {
			asked, ok = l.request.parse(l.in[l.from:l.from+size], l.remote)
		}
		if !ok {
			l.pass()
			return
		}
		l.from += size
		if !l.reply(asked) {
			break
		}
	}
	_ = l.conn.Close() // all was sent, or nobody takes it
}

// pass gives the connection to net/http, with what was read.
func (l *link) pass() {
	l.conn.putBack(slices.Clone(l.in[l.from:l.to]))
	if l.conn.SetDeadline(time.Time{}) != nil {
		_ = l.conn.Close() // it is closed already
		return
	}
	l.front.others.pass(l.conn)
}

// head waits for a request and returns the size of its header. The header is not whole if
// there is no end to it, or one by bare line feeds, which net/http knows how to read.
//
// The first request must be there within headerTimeout, any other within idleTimeout, and
// within headerTimeout of its first byte.
func (l *link) head(first bool) (size int, whole bool, err error) {
	begun := first
	if first {
		l.readUntil(headerTimeout, 0)
	}
	for {
		have := l.in[l.from:l.to]
		if i := bytes.Index(have, []byte("\r\n\r\n")); i >= 0 {
			return i + len("\r\n\r\n"), true, nil
		}
		if bareLineFeed(have) || len(have) == len(l.in) {
			return 0, false, nil
		}
		l.from, l.to = 0, copy(l.in[:], have)
		switch {
		case begun:
		case len(have) == 0:
			l.readUntil(idleTimeout, slack)
		default:
			l.readUntil(headerTimeout, 0)
			begun = true
		}
		n, err := l.conn.Read(l.in[l.to:])
		if l.to += n; n == 0 && err != nil {
			return 0, false, err
		}
	}
}

// bareLineFeed says whether a line ends without a carriage return.
func bareLineFeed(b []byte) bool {
	for rest := b; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return false
		}
		if i == 0 || rest[i-1] != '\r' {
			return true
		}
		rest = rest[i+1:]
	}
}

// readUntil gives the client time to send; up to slack less.
func (l *link) readUntil(span, slack time.Duration) {
	now := time.Now()
	if by := now.Add(span); slack == 0 || l.readBy.Before(by.Add(-slack)) || l.readBy.After(by) {
		l.readBy = by
		_ = l.conn.SetReadDeadline(by) // reading tells if it is closed
	}
}

// reply answers a request, and says whether the connection can be kept.
func (l *link) reply(asked *http.Request) (kept bool) {
	a := &l.answer
	a.begin(asked)
	defer a.end()
	defer func() {
		if v := recover(); v != nil {
			kept = false
			if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				l.front.log.Error("http boot handler failed", "panic", v, "stack", string(debug.Stack()))
			}
		}
	}()
	l.front.handler.ServeHTTP(a, asked)
	return a.finish() && !asked.Close
}
