package dhcp

import (
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/mdlayher/packet"
	"golang.org/x/net/bpf"

	"rackboot/protocol"
)

// openLink opens the raw sockets of an interface. Errors: denied without
// CAP_NET_RAW, unsupported for an interface that is not Ethernet, not_found.
func openLink(device string) (*link, error) {
	const op = "DHCP raw socket"
	ifi, err := net.InterfaceByName(device)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "no interface %q: %w", device, err)
	}
	var mac mac48
	switch {
	case len(ifi.HardwareAddr) == len(mac):
		mac = mac48(ifi.HardwareAddr)
	case ifi.Flags&net.FlagLoopback == 0:
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "interface %q is not Ethernet", device)
	}
	l := &link{mac: mac, waiting: make(map[netip.Addr][]*listener)}
	if l.out, err = openTap(ifi, etherIPv4, nothing()); err != nil {
		return nil, err
	}
	if l.arp, err = openTap(ifi, etherARP, nil); err != nil {
		_ = l.out.Close()
		return nil, err
	}
	l.open = func() (tap, error) { return openTap(ifi, etherIPv4, toClients()) }
	return l, nil
}

func openTap(ifi *net.Interface, protocolNumber int, filter []bpf.Instruction) (tap, error) {
	const op = "DHCP raw socket"
	cfg := &packet.Config{}
	if filter != nil {
		var err error
		if cfg.Filter, err = bpf.Assemble(filter); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, op, "assembling the filter: %w", err)
		}
	}
	conn, err := packet.Listen(ifi, packet.Raw, protocolNumber, cfg)
	switch {
	case err == nil:
		return frames{conn}, nil
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return nil, protocol.Errorf(protocol.CodeDenied, op, "no right to raw sockets on interface %q: %w", ifi.Name, err).
			WithHint("run the agent with CAP_NET_RAW, as its systemd unit does")
	}
	return nil, protocol.Errorf(protocol.CodeUnavailable, op, "raw socket on interface %q: %w", ifi.Name, err)
}

// nothing is a filter that drops each packet before it reaches the socket.
func nothing() []bpf.Instruction { return []bpf.Instruction{bpf.RetConstant{Val: 0}} }

// toClients is a filter for unfragmented UDP datagrams to the port of DHCP clients.
func toClients() []bpf.Instruction {
	const (
		atType, atProtocol, atFragment, atPort = 12, etherHeader + 9, etherHeader + 6, etherHeader + 2
	)
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: atType, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: etherIPv4, SkipTrue: 8},
		bpf.LoadAbsolute{Off: atProtocol, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: protoUDP, SkipTrue: 6},
		bpf.LoadAbsolute{Off: atFragment, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x1fff, SkipTrue: 4},
		bpf.LoadMemShift{Off: etherHeader}, // X is the length of the IP header
		bpf.LoadIndirect{Off: atPort, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: portClient, SkipTrue: 1},
		bpf.RetConstant{Val: 1 << 16},
		bpf.RetConstant{Val: 0},
	}
}

// frames is a tap. The destination is in the frame; the socket wants it once more.
type frames struct{ conn *packet.Conn }

func (f frames) Read(b []byte) (int, error) {
	n, _, err := f.conn.ReadFrom(b)
	return n, err
}

func (f frames) Write(b []byte) (int, error) {
	if len(b) < etherHeader {
		return 0, errFrame
	}
	return f.conn.WriteTo(b, &packet.Addr{HardwareAddr: net.HardwareAddr(b[:6])})
}

func (f frames) Close() error { return f.conn.Close() }
