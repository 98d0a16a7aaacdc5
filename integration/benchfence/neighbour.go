package main

import (
	"net"
	"time"
)

// lateListener is the listener of a BMC that, while the gate is open, waits before
// everything that it sends.
type lateListener struct {
	net.Listener
	late *gate
}

// Accept wraps the connection.
func (l lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return lateConn{c, l.late}, nil
}

type lateConn struct {
	net.Conn
	late *gate
}

// Write waits in steps, so that closing the gate ends it.
func (c lateConn) Write(b []byte) (int, error) {
	for until := time.Now().Add(lateFor); c.late.is() && time.Now().Before(until); {
		time.Sleep(50 * time.Millisecond)
	}
	return c.Conn.Write(b)
}
