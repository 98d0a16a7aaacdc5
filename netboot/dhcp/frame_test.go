package dhcp

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"testing"
	"time"

	"rackboot/protocol"
)

// TestFrame compares a frame with one made by hand from RFC 791 and RFC 768.
func TestFrame(t *testing.T) {
	d := datagram{
		fromMAC: mac48([]byte(ourMAC)), toMAC: stranger48(),
		from: addrPort67(), to: netip.AddrPortFrom(addr("10.99.0.60"), portClient), payload: []byte("abc"),
	}
	const want = "020000000099525400000001" + "0800" +
		"4500001f00004000401125cc0a6300010a63003c" + // the header's words sum up to 0xda33
		"00430044000b25ec616263" // with the pseudo header 0xda13
	if got := hex.EncodeToString(d.frame()); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	b := d.frame()
	if s := sum(0, b[etherHeader:etherHeader+ipv4Header]); s != 0xffff {
		t.Errorf("the header sums up to %#x", s)
	}
	// A datagram whose sum is zero has all ones instead (RFC 768).
	pseudo := make([]byte, 8)
	udp := []byte{0, 0, 0, 0, 0, 10, 0, 0, 0xff, 0xda} // 17 + 10 + 10 + 0xffda = 0xffff
	if got := udpSum(pseudo, udp); got != 0xffff {
		t.Errorf("sum %#x", got)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(datagram{from: addrPort67(), to: everybody(), payload: []byte("x")}.frame())
	f.Add(datagram{from: addrPort67(), to: everybody()}.frame()[:41])
	f.Add(bytes.Repeat([]byte{0x45}, 60))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parseDatagram(raw)
		if err != nil {
			return
		}
		again, err := parseDatagram(d.frame())
		if err != nil || again.from != d.from || again.to != d.to || again.toMAC != d.toMAC || again.fromMAC != d.fromMAC || !bytes.Equal(again.payload, d.payload) {
			t.Fatalf("%+v became %+v, %v", d, again, err)
		}
	})
}

func FuzzARP(f *testing.F) {
	f.Add(probeOf(stranger48(), addr("10.99.0.60")).frame())
	f.Add(append(probeOf(stranger48(), addr("10.99.0.60")).frame(), make([]byte, 18)...))
	f.Add(make([]byte, etherHeader+arpSize))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := parseARP(raw)
		if err != nil {
			return
		}
		again, err := parseARP(a.frame())
		if err != nil || again != a {
			t.Fatalf("%+v became %+v, %v", a, again, err)
		}
	})
}

// TestOpenLink opens raw sockets on the loopback interface, where a frame that is
// sent comes back. Without the right to them the error says what is needed.
func TestOpenLink(t *testing.T) {
	l, err := openLink("lo")
	if err != nil {
		if protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "" {
			t.Fatal(err)
		}
		return
	}
	defer l.close()
	in, err := l.open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	want := datagram{from: netip.MustParseAddrPort("127.0.0.1:67"), to: netip.MustParseAddrPort("127.0.0.77:68"), payload: []byte("a reply")}
	if _, err := l.out.Write(want.frame()); err != nil {
		t.Fatal(err)
	}
	got := make(chan datagram)
	go func() {
		defer close(got)
		buf := make([]byte, frameSize)
		for {
			n, err := in.Read(buf)
			if err != nil {
				return
			}
			if d, err := parseDatagram(buf[:n]); err == nil && d.to == want.to {
				got <- d
				return
			}
		}
	}()
	stop := time.AfterFunc(patience, func() { _ = in.Close() })
	defer stop.Stop()
	if d, ok := <-got; !ok || d.from != want.from || string(d.payload) != "a reply" {
		t.Errorf("got %+v", d)
	}
	if _, err := openLink("nope0"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Error(err)
	}
}
