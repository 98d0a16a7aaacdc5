//go:build host

package alone

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"golang.org/x/sys/unix"

	"rackboot/netboot/firmware"
)

// knownMAC is of another server of the rack.
const knownMAC = "52:54:00:bb:00:01"

// evil is what an intruder has a server boot.
func evil() []byte { return []byte("MZ: not what the hub said") }

func sameUUID() (u [16]byte) {
	raw, err := hex.DecodeString(strings.ReplaceAll(serverUUID, "-", ""))
	if err != nil {
		panic(err) // a constant
	}
	copy(u[:], raw)
	return u
}

func otherUUID() [16]byte { return [16]byte{0: 7, 15: 7} }

// attacks are what an intruder may do, until its context ends.
func attacks() map[string]func(context.Context, *intruder) error {
	boots := func(mac string, uuid [16]byte, change func(*firmware.Client)) func(context.Context, *intruder) error {
		return func(ctx context.Context, x *intruder) error {
			return x.again(ctx, func(ctx context.Context) error {
				c := x.machine(mac, uuid)
				if change != nil {
					change(c)
				}
				return x.steals(ctx, c, c.HTTPBoot)
			})
		}
	}
	return map[string]func(context.Context, *intruder) error{
		"listens":                      func(ctx context.Context, _ *intruder) error { <-ctx.Done(); return nil },
		"MAC forged":                   boots(bootMAC, otherUUID(), nil),
		"MAC forged, no UUID":          boots(bootMAC, [16]byte{}, nil),
		"UUID forged":                  boots(neighbourMAC, sameUUID(), nil),
		"MAC and UUID forged":          boots(bootMAC, sameUUID(), nil),
		"another architecture":         boots(bootMAC, sameUUID(), func(c *firmware.Client) { c.Arch = 19 }), // arm64 by HTTP (IANA)
		"another server with its UUID": boots(knownMAC, sameUUID(), nil),
		"relay forged":                 boots(bootMAC, sameUUID(), relayed),
		"relay forged, another UUID":   boots(bootMAC, otherUUID(), relayed),
		"by PXE": func(ctx context.Context, x *intruder) error {
			c := x.machine(bootMAC, sameUUID())
			return x.again(ctx, func(ctx context.Context) error { return x.steals(ctx, c, c.PXEBoot) })
		},
		"the server before it asks": before,
		"twin":                      twin,
		"token replayed":            replays,
		"token replayed from the server's address": func(ctx context.Context, x *intruder) error {
			return errors.Join(x.run(ctx, "ip address del "+neighbourAddress+"/16 dev "+clientDevice, "ip address add "+clientAddress+"/16 dev "+clientDevice), replays(ctx, x))
		},
		"report before fetch": func(ctx context.Context, x *intruder) error {
			return x.again(ctx, func(ctx context.Context) error {
				lease, err := x.machine(bootMAC, sameUUID()).Plain(ctx)
				if err == nil && lease.Bootfile != "" {
					x.report(ctx, lease.Bootfile)
				}
				return err
			})
		},
		"tokens guessed":           guesses,
		"rogue DHCP server":        rogue,
		"ARP: the agent's address": func(ctx context.Context, x *intruder) error { return impersonates(ctx, x, bootAddress) },
		"ARP: the server's address": func(ctx context.Context, x *intruder) error {
			return impersonates(ctx, x, clientAddress)
		},
		"neighbour advertisements": advertises,
		"flood of DECLINE":         floods(func(*dhcpv4.DHCPv4) {}, dhcpv4.MessageTypeDecline),
		"flood of RELEASE":         floods(func(p *dhcpv4.DHCPv4) { p.ClientIPAddr = net.ParseIP(clientAddress).To4() }, dhcpv4.MessageTypeRelease),
		"flood of INFORM":          floods(func(p *dhcpv4.DHCPv4) { p.ClientIPAddr = net.ParseIP(neighbourAddress).To4() }, dhcpv4.MessageTypeInform),
		"flood of DISCOVER":        floods(func(p *dhcpv4.DHCPv4) { _, _ = rand.Read(p.ClientHWAddr[1:]) }, dhcpv4.MessageTypeDiscover),
	}
}

// relayed has the packets come as from a relay agent, which says the port (RFC 3046).
func relayed(c *firmware.Client) {
	c.Interface, c.Server = "", &net.UDPAddr{IP: net.ParseIP(bootAddress), Port: 67}
}

// twin is the server itself as far as packets tell: its MAC address in every frame, its IP
// address and its UUID. It does not reset the connections of the other one.
func twin(ctx context.Context, x *intruder) error {
	if err := x.becomes(ctx); err != nil {
		return err
	}
	if err := x.run(ctx,
		"nft add table ip twin", "nft add chain ip twin out { type filter hook output priority 0 ; policy accept ; }",
		"nft add rule ip twin out tcp flags & rst == rst drop",
	); err != nil {
		return err
	}
	c := x.machine(bootMAC, sameUUID())
	return x.again(ctx, func(ctx context.Context) error {
		for _, base := range x.heard() {
			x.read(ctx, base)
			x.report(ctx, base)
		}
		return x.steals(ctx, c, c.HTTPBoot)
	})
}

// becomes takes the server's MAC and IP address.
func (x *intruder) becomes(ctx context.Context) error {
	return x.run(ctx, "ip link set "+clientDevice+" address "+bootMAC,
		"ip address del "+neighbourAddress+"/16 dev "+clientDevice, "ip address add "+clientAddress+"/16 dev "+clientDevice)
}

// before is a twin that waits for nobody: it steals while the server's firmware starts, and is
// silent once it has what it wanted.
func before(ctx context.Context, x *intruder) error {
	if err := x.becomes(ctx); err != nil {
		return err
	}
	steals, cancel := context.WithTimeout(ctx, slowPost-time.Second)
	defer cancel()
	c := x.machine(bootMAC, sameUUID())
	err := x.again(steals, func(ctx context.Context) error { return x.steals(ctx, c, c.HTTPBoot) })
	return errors.Join(err, x.run(context.WithoutCancel(ctx), "ip link set "+clientDevice+" down"))
}

// replays uses each token that it hears.
func replays(ctx context.Context, x *intruder) error {
	return x.again(ctx, func(ctx context.Context) error {
		for _, base := range x.heard() {
			x.read(ctx, base)
			x.report(ctx, base)
		}
		return nil
	})
}

// guesses tries tokens that it makes up.
func guesses(ctx context.Context, x *intruder) error {
	return x.again(ctx, func(ctx context.Context) error {
		var token [16]byte
		_, _ = rand.Read(token[:])
		base := fmt.Sprintf("http://%s/b/%x/", bootAddress, token)
		x.read(ctx, base)
		x.report(ctx, base)
		return nil
	})
}

// onDevice is a UDP socket of the interface that may broadcast.
func onDevice(ctx context.Context, address string) (net.PacketConn, error) {
	lc := net.ListenConfig{Control: func(_, _ string, rc syscall.RawConn) (err error) {
		cerr := rc.Control(func(fd uintptr) { err = syscall.BindToDevice(int(fd), clientDevice) })
		return errors.Join(err, cerr)
	}}
	return lc.ListenPacket(ctx, "udp4", address)
}

// rogue answers each DISCOVER and REQUEST with an address, and a file of its own.
func rogue(ctx context.Context, x *intruder) error {
	conn, err := onDevice(ctx, ":67")
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := serveEvil(ctx, neighbourAddress+":80"); err != nil {
		return err
	}
	b := make([]byte, 2048)
	for ctx.Err() == nil {
		n, _, err := conn.ReadFrom(b)
		if err != nil {
			continue
		}
		p, err := dhcpv4.FromBytes(b[:n])
		if err != nil || p.OpCode != dhcpv4.OpcodeBootRequest {
			continue
		}
		kind := dhcpv4.MessageTypeOffer
		if p.MessageType() == dhcpv4.MessageTypeRequest {
			kind = dhcpv4.MessageTypeAck
		}
		a, err := dhcpv4.NewReplyFromRequest(p,
			dhcpv4.WithMessageType(kind), dhcpv4.WithYourIP(net.ParseIP(clientAddress)), dhcpv4.WithLeaseTime(600),
			dhcpv4.WithOption(dhcpv4.OptServerIdentifier(net.ParseIP(neighbourAddress))), dhcpv4.WithNetmask(net.CIDRMask(16, 32)),
			dhcpv4.WithOption(dhcpv4.OptClassIdentifier("HTTPClient")), dhcpv4.WithOption(dhcpv4.OptBootFileName("http://"+neighbourAddress+"/evil.efi")))
		if err != nil {
			return err
		}
		x.mu.Lock()
		x.loot.Tries++
		x.mu.Unlock()
		_, _ = conn.WriteTo(a.ToBytes(), &net.UDPAddr{IP: net.IPv4bcast, Port: 68})
	}
	return nil
}

// serveEvil answers every request with a file of the intruder's, and takes every report.
func serveEvil(ctx context.Context, address string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
	if err != nil {
		return err
	}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/efi")
		_, _ = w.Write(evil())
	})}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	go func() { _ = s.Serve(l) }() // until it is closed
	return nil
}

// impersonates says by ARP that an address is the intruder's, answers at it, and uses what
// comes.
func impersonates(ctx context.Context, x *intruder, address string) error {
	if err := x.run(ctx, "ip address add "+address+"/32 dev "+clientDevice); err != nil {
		return err
	}
	if address == clientAddress {
		x.from = netip.MustParseAddr(address)
	}
	if err := serveEvil(ctx, address+":80"); err != nil {
		return err
	}
	ifi, err := net.InterfaceByName(clientDevice)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	frame := arpReply(ifi.HardwareAddr, netip.MustParseAddr(address))
	to := &unix.SockaddrLinklayer{Ifindex: ifi.Index, Protocol: onWire(unix.ETH_P_ARP)}
	return x.again(ctx, func(ctx context.Context) error {
		for _, base := range x.heard() {
			if address == clientAddress {
				x.read(ctx, base)
				x.report(ctx, base)
			}
		}
		return unix.Sendto(fd, frame, 0, to)
	})
}

// arpReply says to everybody that an address is at an interface (RFC 826).
func arpReply(mac net.HardwareAddr, a netip.Addr) []byte {
	b := append([]byte{255, 255, 255, 255, 255, 255}, mac...)
	b = binary.BigEndian.AppendUint16(b, unix.ETH_P_ARP)
	b = append(b, 0, 1, 8, 0, 6, 4, 0, 2)
	b = append(append(b, mac...), a.AsSlice()...)
	return append(append(b, 255, 255, 255, 255, 255, 255), a.AsSlice()...)
}

// advertises says by neighbour advertisements (RFC 4861 section 4.4) that the agent's IPv6
// address is the intruder's.
func advertises(ctx context.Context, x *intruder) error {
	ifi, err := net.InterfaceByName(clientDevice)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMPV6)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := errors.Join(
		unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, 255),
		unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, ifi.Index),
	); err != nil {
		return err
	}
	target := netip.MustParseAddr(bootAddress6).As16()
	b := append([]byte{136, 0, 0, 0, 0x20, 0, 0, 0}, target[:]...) // override
	b = append(append(b, 2, 1), ifi.HardwareAddr...)
	to := &unix.SockaddrInet6{ZoneId: uint32(ifi.Index), Addr: netip.MustParseAddr("ff02::1").As16()}
	return x.again(ctx, func(context.Context) error { return unix.Sendto(fd, b, 0, to) })
}

// floods sends a message in the server's name as fast as floods here go.
func floods(change func(*dhcpv4.DHCPv4), kind dhcpv4.MessageType) func(context.Context, *intruder) error {
	return func(ctx context.Context, x *intruder) error {
		conn, err := onDevice(ctx, neighbourAddress+":0")
		if err != nil {
			return err
		}
		defer conn.Close()
		var count flood
		hw, err := net.ParseMAC(bootMAC)
		if err != nil {
			return err
		}
		return paced(ctx, &count.dhcp, func() error {
			p, err := dhcpv4.New(dhcpv4.WithHwAddr(hw), dhcpv4.WithMessageType(kind),
				dhcpv4.WithOption(dhcpv4.OptServerIdentifier(net.ParseIP(bootAddress))), dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(net.ParseIP(clientAddress))))
			if err != nil {
				return err
			}
			p.ClientHWAddr = append(net.HardwareAddr(nil), hw...)
			change(p)
			x.mu.Lock()
			x.loot.Tries++
			x.mu.Unlock()
			_, err = conn.WriteTo(p.ToBytes(), &net.UDPAddr{IP: net.ParseIP(bootAddress), Port: 67})
			return err
		})
	}
}
