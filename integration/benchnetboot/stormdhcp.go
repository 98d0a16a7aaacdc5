package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"time"
)

// DHCP on the wire: RFC 2131, and RFC 4578 of PXE.
const (
	dhcpSize    = 240 // up to the options
	dhcpXID     = 4
	dhcpYourIP  = 16
	dhcpRelay   = 24
	dhcpMAC     = 28
	dhcpCookie  = 236
	dhcpPort    = 67
	discoverMsg = 1
	offerMsg    = 2
	requestMsg  = 3
	ackMsg      = 5
)

// bootClient is one server that boots: EDK2's DISCOVER and REQUEST, by a relay.
type bootClient struct {
	mac     [6]byte
	message []byte // what was said last
	due     time.Time
	bound   bool
}

// dhcpStorm is many of them at once.
type dhcpStorm struct {
	conn   *net.UDPConn
	server netip.AddrPort
	all    []bootClient
	left   int
	resent int
	buf    [1500]byte
}

// stormDHCP has all clients get a lease at once, by DISCOVER, OFFER, REQUEST and ACK. Each
// time they are other clients.
func (j job) stormDHCP() (told, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(clientAddress), Port: dhcpPort})
	if err != nil {
		return told{}, err
	}
	defer conn.Close()
	_ = conn.SetReadBuffer(4 << 20)
	s := &dhcpStorm{conn: conn, server: netip.AddrPortFrom(netip.MustParseAddr(serverAddress), dhcpPort), all: make([]bootClient, j.Clients), left: j.Clients}
	base := rand.Uint32()
	for i := range s.all {
		c := &s.all[i]
		c.mac = [6]byte{0x52, 0x54}
		binary.BigEndian.PutUint32(c.mac[2:], base+uint32(i))
		c.message = c.packet(uint32(i), discoverMsg, nil)
	}
	begun := time.Now()
	for i := range s.all {
		if err := s.say(&s.all[i], begun); err != nil {
			return told{}, err
		}
	}
	for s.left > 0 {
		if err := s.turn(); err != nil {
			return told{}, err
		}
		if time.Since(begun) > time.Minute {
			return told{}, fmt.Errorf("%d clients have no lease after a minute", s.left)
		}
	}
	return told{Took: time.Since(begun), Requests: j.Clients, Resent: s.resent}, nil
}

// packet is a message of a client, whose transaction is its number.
func (c *bootClient) packet(n uint32, kind byte, more []byte) []byte {
	b := make([]byte, dhcpSize, 400)
	b[0], b[1], b[2], b[3] = 1, 1, 6, 1 // BOOTREQUEST, Ethernet, one hop
	binary.BigEndian.PutUint32(b[dhcpXID:], n)
	copy(b[dhcpRelay:], net.ParseIP(clientAddress).To4())
	copy(b[dhcpMAC:], c.mac[:])
	binary.BigEndian.PutUint32(b[dhcpCookie:], 0x63825363)
	b = append(b, 53, 1, kind, 57, 2, 0x05, 0xb8)
	b = append(append(b, 97, 17, 0), append(c.mac[:], make([]byte, 10)...)...) // a UUID
	b = append(b, 93, 2, 0, 7, 94, 3, 1, 3, 16)
	class := "PXEClient:Arch:00007:UNDI:003016"
	b = append(append(b, 60, byte(len(class))), class...)
	b = append(b, 55, 16, 1, 2, 3, 4, 5, 6, 12, 13, 15, 17, 43, 54, 60, 66, 67, 97)
	b = append(b, more...)
	return append(b, 255)
}

func (s *dhcpStorm) say(c *bootClient, now time.Time) error {
	c.due = now.Add(stormTimer)
	_, err := s.conn.WriteToUDPAddrPort(c.message, s.server)
	return err
}

// turn takes one message, or repeats what was not answered.
func (s *dhcpStorm) turn() error {
	if err := s.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		return err
	}
	n, _, err := s.conn.ReadFromUDPAddrPort(s.buf[:])
	now := time.Now()
	switch {
	case err == nil:
		return s.hear(s.buf[:n], now)
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return err
	}
	for i := range s.all {
		if c := &s.all[i]; !c.bound && now.After(c.due) {
			s.resent++
			if err := s.say(c, now); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *dhcpStorm) hear(b []byte, now time.Time) error {
	if len(b) < dhcpSize {
		return errors.New("a message that is too short")
	}
	n := binary.BigEndian.Uint32(b[dhcpXID:])
	if int(n) >= len(s.all) {
		return nil
	}
	c := &s.all[n]
	if c.bound {
		return nil
	}
	switch kind := optionOf(b[dhcpSize:], 53); {
	case len(kind) == 1 && kind[0] == offerMsg:
		more := append([]byte{50, 4}, b[dhcpYourIP:dhcpYourIP+4]...)
		more = append(append(more, 54, 4), optionOf(b[dhcpSize:], 54)...)
		c.message = c.packet(n, requestMsg, more)
		return s.say(c, now)
	case len(kind) == 1 && kind[0] == ackMsg:
		c.bound = true
		s.left--
	default:
		return fmt.Errorf("a client is told %v", kind)
	}
	return nil
}

// optionOf is the value of an option.
func optionOf(b []byte, code byte) []byte {
	for len(b) > 1 && b[0] != 255 {
		if b[0] == 0 {
			b = b[1:]
			continue
		}
		end := 2 + int(b[1])
		if end > len(b) {
			return nil
		}
		if b[0] == code {
			return b[2:end]
		}
		b = b[end:]
	}
	return nil
}
