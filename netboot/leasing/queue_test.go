package leasing

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

func none() int { return 0 }

func testMetrics() *Metrics {
	return NewMetrics("rack1", Words{Server: "test server", Protocol: "test", Packet: "packet", Client: "client", Addresses: "Addresses"}, none, none)
}

// mute has no reply.
type mute struct{}

func (mute) Answer(context.Context, Packet[bool]) (to netip.AddrPort, err error) { return to, nil }

// TestQueueIsFull: what does not fit is dropped and counted.
func TestQueueIsFull(t *testing.T) {
	m := testMetrics()
	q := NewQueue(mute{}, m, slog.New(slog.DiscardHandler))
	q.packets = make(chan Packet[bool], 1)
	err := q.Read(t.Context(), &burst{left: 3})
	if n := testutil.ToFloat64(m.Drops); n != 2 || protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("%v dropped, then %v", n, err)
	}
}

// burst is a socket that breaks after some messages.
type burst struct{ left int }

func (b *burst) LocalAddr() net.Addr { return &net.UDPAddr{} }

func (b *burst) ReadFrom([]byte) (n int, from netip.AddrPort, mark bool, err error) {
	if b.left--; b.left < 0 {
		return 0, from, false, net.ErrClosed
	}
	return 4, netip.MustParseAddrPort("[::1]:546"), true, nil
}
