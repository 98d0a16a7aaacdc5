package dhcp

import (
	"context"
	"net"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot/leasing"
)

// TestWrites: whose answers wait for the disk, RFC 2131 section 4.3.
func TestWrites(t *testing.T) {
	for kind, want := range map[dhcpv4.MessageType]bool{
		0: false, dhcpv4.MessageTypeDiscover: false, dhcpv4.MessageTypeInform: false, dhcpv4.MessageTypeOffer: false,
		dhcpv4.MessageTypeRequest: true, dhcpv4.MessageTypeRelease: true, dhcpv4.MessageTypeDecline: true,
	} {
		if (&Server{}).Writes(leasing.Asker{Kind: byte(kind)}) != want {
			t.Errorf("%s writes: %v", kind, !want)
		}
	}
}

// TestOffersWhileTheStoreStands: REQUESTs that wait for a store that stands still, more than
// there are workers, keep nobody from an OFFER.
func TestOffersWhileTheStoreStands(t *testing.T) {
	leases := newMemLeases()
	leases.putGate = make(chan struct{})
	c := &mixedConn{then: client(dhcpv4.MessageTypeDiscover, mac1).ToBytes(), thenLeft: 5}
	c.packet = client(asking, mac1, withIP(54, ours), withIP(50, "10.99.0.60")).ToBytes()
	c.left, c.closed = 2*workerCount, make(chan struct{})
	s, err := New(Config{
		Segment: "rack1", Conn: c, Resolver: &fixedResolver{seg: testSegment(), answer: lease1()}, Leases: leases, Evidence: &memEvidence{},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	offers := s.metrics.Packets.WithLabelValues(typeLabel(dhcpv4.MessageTypeDiscover), resultOffer)
	waitFor(t, func() bool { return testutil.ToFloat64(offers) == 5 })
	close(leases.putGate)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// mixedConn is a floodConn that gives other packets after the flood.
type mixedConn struct {
	floodConn
	then     []byte
	thenLeft int
}

func (c *mixedConn) ReadFrom(b []byte) (int, net.Addr, error) {
	if c.left == 0 && c.thenLeft > 0 {
		c.thenLeft--
		return copy(b, c.then), &net.UDPAddr{IP: net.IPv4(10, 99, 0, 7), Port: 68}, nil
	}
	return c.floodConn.ReadFrom(b)
}
