package heartbeat

import (
	"context"
	"net"
	"syscall"

	"rackboot/protocol"
)

// Listen opens the socket of a line, bound to its interface. What it sends no router passes on: who is heard is on the segment.
func Listen(l Line) (net.PacketConn, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			if failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_TTL, 1); failed == nil && l.Interface != "" {
				failed = syscall.SetsockoptString(int(fd), syscall.SOL_SOCKET, syscall.SO_BINDTODEVICE, l.Interface)
			}
		})
		if err != nil {
			return err
		}
		return failed
	}}
	c, err := lc.ListenPacket(context.Background(), "udp4", l.Listen.String())
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "listen for heartbeats", "segment %s: %w", l.Segment, err).
			WithHint("heartbeat of the segment in the agent's file needs this host's own address there, and a free port")
	}
	return c, nil
}
