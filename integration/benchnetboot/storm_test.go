package main

import (
	"bytes"
	"encoding/binary"
	"net"
	"testing"
	"time"
)

// TestFields: every work of the storm is one that a child does, by servers that know how.
func TestFields(t *testing.T) {
	p := plan{storm: 500, stormTFTP: 2 << 20, stormSize: 15 << 20, tftp: 16 << 20, period: time.Second}
	seen := make(map[string]bool)
	for _, f := range p.fields() {
		if len(f.servers) < 2 || len(f.works) == 0 || seen[f.what] {
			t.Errorf("field %s has %d servers and %d works", f.what, len(f.servers), len(f.works))
		}
		seen[f.what] = true
		for _, w := range f.works {
			switch w.job.What {
			case stormDHCP, stormTFTP, fetchTFTP, stormHTTP, packages, shakes:
			default:
				t.Errorf("%s: no child does %q", w.what, w.job.What)
			}
			if v := w.value(told{Took: 2 * time.Second, Requests: 10}); v <= 0 || w.unit == "" || seen[w.what] {
				t.Errorf("%s: %f %s", w.what, v, w.unit)
			}
			seen[w.what] = true
		}
	}
}

// TestBootClient: a DISCOVER that is answered becomes a REQUEST for what was offered, by the
// server that offered it, and an ACK ends it; the second of two counts for nothing.
func TestBootClient(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := &dhcpStorm{conn: server, server: server.LocalAddr().(*net.UDPAddr).AddrPort(), all: make([]bootClient, 1), left: 1}
	c := &s.all[0]
	c.mac = [6]byte{0x52, 0x54, 0, 0, 0, 7}
	c.message = c.packet(0, discoverMsg, nil)
	for _, want := range []struct {
		code byte
		has  string
	}{{53, "\x01"}, {93, "\x00\x07"}, {60, "PXEClient:Arch:00007:UNDI:003016"}, {50, ""}} {
		if got := optionOf(c.message[dhcpSize:], want.code); string(got) != want.has {
			t.Errorf("option %d is %q", want.code, got)
		}
	}
	reply := func(kind byte) []byte {
		b := make([]byte, dhcpSize)
		copy(b[dhcpYourIP:], []byte{10, 99, 1, 5})
		return append(b, 0, 54, 4, 10, 99, 0, 1, 53, 1, kind, 255)
	}
	if err := s.hear(reply(offerMsg), time.Now()); err != nil {
		t.Fatal(err)
	}
	if m := c.message[dhcpSize:]; !bytes.Equal(optionOf(m, 53), []byte{requestMsg}) || !bytes.Equal(optionOf(m, 50), []byte{10, 99, 1, 5}) || !bytes.Equal(optionOf(m, 54), []byte{10, 99, 0, 1}) ||
		binary.BigEndian.Uint32(c.message[dhcpXID:]) != 0 || !bytes.Equal(c.message[dhcpMAC:dhcpMAC+6], c.mac[:]) {
		t.Errorf("it asks by % x", c.message)
	}
	for range 2 {
		if err := s.hear(reply(ackMsg), time.Now()); err != nil || !c.bound || s.left != 0 {
			t.Errorf("after the ACK: %v, bound %v, %d left", err, c.bound, s.left)
		}
	}
	c.bound = false
	if err := s.hear(reply(6), time.Now()); err == nil {
		t.Error("a NAK is taken")
	}
	if err := s.hear(reply(ackMsg)[:100], time.Now()); err == nil {
		t.Error("half a message is taken")
	}
}

func TestOptionOf(t *testing.T) {
	for _, row := range []struct{ options, want string }{
		{"\x35\x01\x02\xff", "\x02"},
		{"\x00\x00\x35\x01\x02\xff", "\x02"},
		{"\x36\x02\x01\x01\x35\x01\x05", "\x05"},
		{"\xff\x35\x01\x02", ""},
		{"\x35\x09\x02", ""},
		{"\x35", ""},
		{"", ""},
	} {
		if got := optionOf([]byte(row.options), 53); string(got) != row.want {
			t.Errorf("% x: % x", row.options, got)
		}
	}
}
