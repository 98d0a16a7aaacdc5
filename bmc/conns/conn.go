package conns

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// bufferSize is what is read and written at once while an exchange goes on. What is longer goes
// past the buffers.
const bufferSize = 1 << 10

// buffers are those of an exchange. A connection that waits has none.
type buffers struct {
	r *bufio.Reader
	w *bufio.Writer
}

// Pool has the buffers that no exchange uses, of all transports that share it. The zero value is ready. It is safe for
// concurrent use.
type Pool struct{ free sync.Pool }

func (p *Pool) take(c *conn) *buffers {
	b, ok := p.free.Get().(*buffers)
	if !ok {
		b = &buffers{r: bufio.NewReaderSize(nil, bufferSize), w: bufio.NewWriterSize(nil, bufferSize)}
	}
	b.r.Reset(c)
	b.w.Reset(c.net)
	return b
}

func (p *Pool) give(b *buffers) {
	b.r.Reset(nil)
	b.w.Reset(nil)
	written := b.w.AvailableBuffer()
	clear(written[:cap(written)]) // it may have had a password, which would lie about wherever the pool lets go of buffers
	p.free.Put(b)
}

// conn is a connection. One exchange at a time has it.
type conn struct {
	transport *Transport
	raw       net.Conn
	net       net.Conn    // the same, or TLS over it
	expiry    *time.Timer // nil before it has waited
	heard     bool        // a byte of the answer came
	left      int64       // of the bytes that a header may have; negative while a body is read
	once      sync.Once
}

func newConn(t *Transport, raw, over net.Conn) *conn { return &conn{transport: t, raw: raw, net: over} }

// close may come from the expiry and from an exchange.
func (c *conn) close() {
	c.once.Do(func() {
		_ = c.net.SetDeadline(time.Now().Add(closeTimeout)) // of what TLS says at the end
		_ = c.net.Close()                                   // there is nothing to lose
	})
}

// closeTimeout bounds the goodbye to a BMC that reads nothing.
const closeTimeout = time.Second

var (
	errHeaderTooLarge = errors.New("the header of the answer is too large")
	errSwitched       = errors.New("the BMC switched to another protocol")
)

// Read counts what is read of a header.
func (c *conn) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errHeaderTooLarge
	}
	if c.left > 0 && int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.net.Read(p)
	if n > 0 {
		c.heard = true
	}
	if c.left > 0 {
		c.left -= int64(n)
	}
	return n, err
}

// quiet reports whether nothing waits to be read of a connection on which no answer is expected, and it has not ended. What
// TLS has read of the socket is not there any more: it is asked with a deadline that is over, so that it reads nothing
// more. It does not wait.
func (c *conn) quiet() bool {
	if c.net.SetReadDeadline(past()) != nil {
		return false
	}
	var b [1]byte
	n, err := c.net.Read(b[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.net.SetReadDeadline(time.Time{}) == nil && !ended(c.raw)
}

// past is a deadline that ends what goes on.
func past() time.Time { return time.Unix(1, 0) }

// exchange sends a request and reads the header of its answer. The body of the answer is read by the
// caller, who closes it; then done is called, and the connection waits for the next exchange. After an error
// done is not called. heard says whether anything of an answer came.
func (c *conn) exchange(req *http.Request, done func()) (resp *http.Response, heard bool, err error) {
	ctx := req.Context()
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(past()) })
	b := c.transport.cfg.Pool.take(c)
	c.heard, c.left = false, c.transport.cfg.MaxHeaderBytes
	if resp, err = c.answer(req, b); err != nil {
		stop()
		c.transport.cfg.Pool.give(b)
		return nil, c.heard, err
	}
	c.left = -1
	body := &body{conn: c, from: resp.Body, buffers: b, stop: stop, done: done, ctx: ctx, keep: !resp.Close && !req.Close}
	resp.Body = body
	return resp, true, nil
}

// answer writes the request and reads the header of its answer.
func (c *conn) answer(req *http.Request, b *buffers) (*http.Response, error) {
	if err := req.Write(b.w); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	if err := b.w.Flush(); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	for {
		resp, err := http.ReadResponse(b.r, req)
		switch {
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errSwitched
		case resp.StatusCode >= 200:
			return resp, nil
		}
		// 1xx says that the answer is on its way
	}
}

// body is that of an answer.
type body struct {
	conn    *conn
	from    io.ReadCloser
	buffers *buffers
	stop    func() bool
	done    func()
	ctx     context.Context //nolint:containedctx // of the request, as the body is
	keep    bool            // the connection may be used again
	whole   bool            // all of it was read
	err     error           // what it ended with
	once    sync.Once
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	if err == nil {
		return n, nil
	}
	b.whole = errors.Is(err, io.EOF)
	if !b.whole && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	b.err = err
	b.end()
	return n, err
}

// Close implements io.Closer. A connection on which something of the answer is unread is not used
// again.
func (b *body) Close() error {
	b.end()
	return nil
}

// end is called by one goroutine at a time, the reader's.
func (b *body) end() {
	b.once.Do(func() {
		if b.err == nil {
			b.err = http.ErrBodyReadAfterClose
			b.whole = b.from == http.NoBody
		}
		clean := b.stop() && b.whole && b.keep && b.buffers.r.Buffered() == 0
		b.conn.transport.cfg.Pool.give(b.buffers)
		if clean {
			b.conn.transport.rest(b.conn)
		} else {
			b.conn.close()
		}
		b.done()
	})
}
