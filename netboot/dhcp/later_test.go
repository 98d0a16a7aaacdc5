package dhcp

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
)

// ackConn gives the REQUESTs of some clients, and notes who gets an ACK.
type ackConn struct {
	floodConn
	asks [][]byte
	mu   sync.Mutex
	acks map[string]int // by MAC
}

func (c *ackConn) ReadFrom(b []byte) (int, net.Addr, error) {
	if len(c.asks) > 0 {
		c.packet, c.left = c.asks[0], 1
		c.asks = c.asks[1:]
	}
	return c.floodConn.ReadFrom(b)
}

func (c *ackConn) WriteTo(b []byte, _ net.Addr) (int, error) {
	p, err := dhcpv4.FromBytes(b)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.MessageType() == dhcpv4.MessageTypeAck {
		c.acks[p.ClientHWAddr.String()]++
	}
	return len(b), nil
}

func (c *ackConn) acked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.acks)
}

// TestAcksOfOneSync: a server that runs sends no ACK before the write of its lease is done, one to each when it is, and none
// when it failed: then the address is not its client's. That one of them causes a panic keeps the others from nothing.
func TestAcksOfOneSync(t *testing.T) {
	for _, row := range []struct {
		name           string
		broken, panics bool
		acks           int
		result         string
		failed         int // of that result
	}{
		{"written", false, false, 3, resultAck, 3},
		{"not written", true, false, 0, resultStoreError, 3},
		{"a panic", false, true, 2, resultAck, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			leases := newMemLeases()
			leases.putGate, leases.broken = make(chan struct{}), row.broken
			c := &ackConn{acks: map[string]int{}}
			c.closed = make(chan struct{})
			for i, mac := range []string{mac1, mac2, "52:54:00:12:34:58"} {
				a := []string{"10.99.0.60", "10.99.0.61", "10.99.0.62"}[i]
				c.asks = append(c.asks, client(asking, mac, giaddr("10.99.0.3"), withIP(54, ours), withIP(50, a)).ToBytes())
			}
			resolver := &fixedResolver{seg: testSegment(), answer: lease1()}
			s, err := New(Config{
				Segment: "rack1", Conn: c, Resolver: resolver, Leases: leases, Evidence: &memEvidence{},
				Granted: func(l netboot.Lease) {
					if row.panics && l.MAC == mac2 {
						panic("of who is told")
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx) }()
			waitFor(t, func() bool { // all have been decided
				resolver.mu.Lock()
				defer resolver.mu.Unlock()
				return resolver.calls == 3
			})
			if n := c.acked(); n != 0 {
				t.Errorf("%d ACKs before a lease is written", n)
			}
			close(leases.putGate)
			counted := s.metrics.Packets.WithLabelValues(typeLabel(asking), row.result)
			waitFor(t, func() bool { return testutil.ToFloat64(counted) == float64(row.failed) && c.acked() == row.acks })
			if row.panics {
				waitFor(t, func() bool {
					return testutil.ToFloat64(s.metrics.Packets.WithLabelValues(typeUnknown, "panic")) == 1
				})
			}
			if _, stored := leases.get("10.99.0.60"); stored == row.broken || row.broken && s.pool.Address(mac1, s.now()).IsValid() {
				t.Errorf("stored %t, address %s", stored, s.pool.Address(mac1, s.now()))
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			for mac, n := range c.acks {
				if n != 1 {
					t.Errorf("%s has %d ACKs", mac, n)
				}
			}
		})
	}
}
