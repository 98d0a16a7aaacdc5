package s3

import (
	"context"
	"net"
	"time"
)

// dial makes connections on which nothing stands still.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return impatient{c}, nil
}

// impatient is a connection that fails when it carries nothing for a while.
type impatient struct{ net.Conn }

func (c impatient) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(2 * idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c impatient) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
