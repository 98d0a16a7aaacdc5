package fleet

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// cables are the connections of an agent. One whose rack loses power says nothing any more, not even that it
// ends: its peer finds out by itself, or when the rack is back and its kernel knows of no such connection.
type cables struct {
	mu   sync.Mutex
	dark bool
	open map[*cable]struct{}
}

type cable struct {
	net.Conn
	of *cables
}

// errDark is what every call of a cable returns while its rack is dark.
var errDark = errors.New("the rack has no power")

// dialler has the connections that dial makes be among the cables.
func (w *cables) dialler(dial func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.dark {
			return nil, errors.Join(errDark, conn.Close())
		}
		c := &cable{Conn: conn, of: w}
		if w.open == nil {
			w.open = map[*cable]struct{}{}
		}
		w.open[c] = struct{}{}
		return c, nil
	}
}

// fall has all cables say and hear nothing from now on.
func (w *cables) fall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dark = true
	for c := range w.open {
		_ = c.Conn.SetDeadline(time.Unix(1, 0)) // ends what waits; a closed one has nothing that waits
	}
}

// rise has new cables be possible. The peers of the old ones are told that nobody knows those.
func (w *cables) rise() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bury()
	w.dark = false
}

// end closes what is still open.
func (w *cables) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bury()
}

func (w *cables) bury() {
	for c := range w.open {
		if t, ok := c.Conn.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // a reset: what a kernel answers that knows of no such connection
		}
		_ = c.Conn.Close() // nobody reads what it would say
	}
	clear(w.open)
}

func (w *cables) isDark() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dark
}

// Read is io.Reader.
func (c *cable) Read(p []byte) (int, error) {
	if c.of.isDark() {
		return 0, errDark
	}
	return c.Conn.Read(p)
}

// Write is io.Writer.
func (c *cable) Write(p []byte) (int, error) {
	if c.of.isDark() {
		return 0, errDark
	}
	return c.Conn.Write(p)
}

// Close leaves a cable open whose rack is dark: whoever closes it has no power either.
func (c *cable) Close() error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.dark {
		return nil
	}
	delete(c.of.open, c)
	return c.Conn.Close()
}

// SetDeadline is as of net.Conn, but what fall set stays: TLS gives itself time for its goodbye.
func (c *cable) SetDeadline(t time.Time) error { return c.unlessDark(t, c.Conn.SetDeadline) }

// SetReadDeadline is as SetDeadline.
func (c *cable) SetReadDeadline(t time.Time) error { return c.unlessDark(t, c.Conn.SetReadDeadline) }

// SetWriteDeadline is as SetDeadline.
func (c *cable) SetWriteDeadline(t time.Time) error { return c.unlessDark(t, c.Conn.SetWriteDeadline) }

func (c *cable) unlessDark(t time.Time, set func(time.Time) error) error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.dark {
		return nil
	}
	return set(t)
}
