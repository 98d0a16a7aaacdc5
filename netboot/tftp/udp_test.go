package tftp

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// open gives a socket of a door on loopback.
func openUDP(t *testing.T, client netip.AddrPort) *udpSocket {
	t.Helper()
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 0)
	if client.Addr().Is6() {
		at = netip.AddrPortFrom(netip.IPv6Loopback(), 0)
	}
	d, err := listen(at, "lo")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := d.open(at.Addr(), client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*udpSocket)
}

// TestSendsPackets: however many packets a call takes, they arrive one by one, as they
// were, and in order; also where the host does not take several.
func TestSendsPackets(t *testing.T) {
	for _, single := range []bool{false, true} {
		for _, row := range []struct{ size, bytes int }{{1472, 100}, {1472, 1472}, {1472, 1472 * 2}, {1472, 1472*63 + 4}, {1472, 1472 * 64}, {12, 12*200 + 5}, {65468, 65468}, {30000, 90001}} {
			c := udp(t)
			_ = c.SetReadBuffer(1 << 20)
			s := openUDP(t, addrPort(c.LocalAddr()))
			s.single = single
			want := pattern(row.bytes)
			if err := s.send(want, row.size, s.client); err != nil {
				t.Fatalf("%+v: %v", row, err)
			}
			var got []byte
			buf := make([]byte, 1<<16)
			for len(got) < len(want) {
				_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
				n, _, err := c.ReadFromUDPAddrPort(buf)
				if err != nil || n != min(row.size, len(want)-len(got)) {
					t.Fatalf("%+v: a packet of %d after %d bytes, %v", row, n, len(got), err)
				}
				got = append(got, buf[:n]...)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%+v: the packets are not what was sent", row)
			}
		}
	}
}

// TestReceives: a packet of the client is said to be of it, any other of its sender, and
// nothing is waited for.
func TestReceives(t *testing.T) {
	client, stranger := udp(t), udp(t)
	s := openUDP(t, addrPort(client.LocalAddr()))
	var b [4]byte
	if _, _, err := s.receive(b[:]); !errors.Is(err, errNothing) {
		t.Errorf("an empty socket: %v", err)
	}
	raw, err := unix.Getsockname(s.fd)
	if err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(raw.(*unix.SockaddrInet4).Port))
	for _, c := range []interface {
		WriteToUDPAddrPort([]byte, netip.AddrPort) (int, error)
	}{client, stranger} {
		if _, err := c.WriteToUDPAddrPort([]byte("\x00\x04\x00\x07and more"), to); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []netip.AddrPort{addrPort(client.LocalAddr()), addrPort(stranger.LocalAddr())} {
		if n, from, err := s.receive(b[:]); n != 4 || from != want || err != nil || b != [4]byte{0, 4, 0, 7} {
			t.Errorf("% x of %s, want %s: %v", b[:n], from, want, err)
		}
	}
}

// TestAddresses: what the kernel is told of an address is what it says back.
func TestAddresses(t *testing.T) {
	for _, text := range []string{"10.1.2.3:69", "255.255.255.255:65535", "[2001:db8::1]:1", "[fe80::1]:258"} {
		want := netip.MustParseAddrPort(text)
		a := addressOf(want)
		if got := a.addrPort(); got != want {
			t.Errorf("%s is %s", want, got)
		}
		for _, other := range []string{"10.1.2.3:70", "10.1.2.4:69", "[2001:db8::2]:1", "[2001:db8::1]:2", text} {
			if b := addressOf(netip.MustParseAddrPort(other)); a.is(&b) != (other == text) {
				t.Errorf("%s and %s", text, other)
			}
		}
	}
	near, far := addressOf(netip.MustParseAddrPort("[fe80::1%1]:9")), addressOf(netip.MustParseAddrPort("[fe80::1%2]:9"))
	if near.is(&far) {
		t.Error("one address on two interfaces is one")
	}
}

// TestStrangerOnWire is the row of RFC 1350 section 4 with real sockets: who is not the
// client hears ERROR 5, and the transfer goes on. It is so with a window too.
func TestStrangerOnWire(t *testing.T) {
	_, files, port := onLoopback(t)
	c := &client{sock: udp(t), server: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port), options: []option{{"blksize", "1000"}, {"windowsize", "64"}}}
	other := udp(t)
	disturbing := &disturbed{wire: c.sock, by: func(tid netip.AddrPort) {
		if _, err := other.WriteToUDPAddrPort(ackPacket(1), tid); err != nil {
			t.Error(err)
		}
	}}
	c.sock = disturbing
	if b, err := c.fetch("boot.efi"); err != nil || !bytes.Equal(b, files.files["boot.efi"]) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	var b [100]byte
	_ = other.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := other.Read(b[:]); err != nil || opcode(b[:n]) != opError || b[3] != errTID {
		t.Errorf("the stranger hears % x, %v", b[:n], err)
	}
}

// disturbed has somebody else write to the server's port once it is known.
type disturbed struct {
	wire
	by func(tid netip.AddrPort)
}

func (d *disturbed) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	n, from, err := d.wire.ReadFromUDPAddrPort(b)
	if err == nil && d.by != nil {
		d.by(from)
		d.by = nil
	}
	return n, from, err
}
