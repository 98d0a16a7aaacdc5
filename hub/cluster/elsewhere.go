package cluster

import (
	"net"
	"time"
)

// moveEvery is how often a connection is moved at most.
const moveEvery = 10 * time.Second

// dialer keeps what is dialled, so that it can be cut.
type dialer struct{ c *Cluster }

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, address string) (net.Conn, error) {
	line, err := net.DialTimeout(network, address, dialTimeout)
	if err == nil {
		d.c.mu.Lock()
		d.c.line = line
		d.c.mu.Unlock()
	}
	return line, err
}

// Elsewhere has the connection go to another of the servers, as where the present one is cut off from the others and lets
// no call succeed; once in ten seconds at most. Calls that wait for an answer go on waiting: the line is cut as a network
// would, because [nats.Conn.ForceReconnect] ends them. It does not wait.
func (c *Cluster) Elsewhere() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.since.IsZero() || time.Since(c.moved) < moveEvery {
		return
	}
	c.moved = time.Now()
	_ = c.line.Close() // it is gone already then
}
