package lldp

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"rackboot/protocol"
)

func tlv(kind int, value string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(kind<<9|len(value)))) + value
}

const (
	mac      = "\x04\x0c\x42\xa1\x00\x00\x01"
	portName = "\x05swp7"
	ttl      = "\x00\x78"
)

func TestParse(t *testing.T) {
	head := tlv(1, mac) + tlv(2, portName) + tlv(3, ttl)
	end := tlv(0, "")
	for _, row := range []struct {
		name, pdu string
		want      Announcement
		bad       bool
	}{
		// As lldpd on Cumulus Linux sends it.
		{"a switch", head + tlv(4, "swp7") + tlv(5, "leaf-1.example") + tlv(6, "Cumulus Linux") + tlv(7, "\x00\x14\x00\x14") + tlv(127, "\x00\x80\xc2\x01\x00\x01") + end, Announcement{Neighbour: protocol.Neighbour{Chassis: "0c:42:a1:00:00:01", Port: "swp7", System: "leaf-1.example"}}, false},
		{"port by MAC", tlv(1, "\x07chassis") + tlv(2, "\x03\x0c\x42\xa1\x00\x00\x07") + tlv(3, ttl) + end, Announcement{Neighbour: protocol.Neighbour{Chassis: "chassis", Port: "0c:42:a1:00:00:07"}}, false},
		{"chassis by IPv4", tlv(1, "\x05\x01\x0a\x00\x00\x01") + tlv(2, portName) + tlv(3, ttl) + end, Announcement{Neighbour: protocol.Neighbour{Chassis: "10.0.0.1", Port: "swp7"}}, false},
		{"chassis by IPv6", tlv(1, "\x05\x02\x20\x01\x0d\xb8"+strings.Repeat("\x00", 11)+"\x01") + tlv(2, portName) + tlv(3, ttl) + end, Announcement{Neighbour: protocol.Neighbour{Chassis: "2001:db8::1", Port: "swp7"}}, false},
		{"chassis by another family", tlv(1, "\x05\x06\x01\x02") + tlv(2, portName) + tlv(3, ttl), Announcement{Neighbour: protocol.Neighbour{Chassis: "060102", Port: "swp7"}}, false},
		{"no end (optional since 2016)", head, Announcement{Neighbour: protocol.Neighbour{Chassis: "0c:42:a1:00:00:01", Port: "swp7"}}, false},
		{"padding behind the end", head + end + strings.Repeat("\x00", 20), Announcement{Neighbour: protocol.Neighbour{Chassis: "0c:42:a1:00:00:01", Port: "swp7"}}, false},
		{"shutdown", tlv(1, mac) + tlv(2, portName) + tlv(3, "\x00\x00") + end, Announcement{Neighbour: protocol.Neighbour{Chassis: "0c:42:a1:00:00:01", Port: "swp7"}, Gone: true}, false},
		{"escapes in a name", head + tlv(5, "a\x1b[2Jb") + end, Announcement{Neighbour: protocol.Neighbour{Chassis: "0c:42:a1:00:00:01", Port: "swp7", System: "a[2Jb"}}, false},
		{"empty", "", Announcement{}, true},
		{"only the end", end, Announcement{}, true},
		{"no TTL", tlv(1, mac) + tlv(2, portName) + end, Announcement{}, true},
		{"no TTL and no end", tlv(1, mac) + tlv(2, portName), Announcement{}, true},
		{"another order", tlv(2, portName) + tlv(1, mac) + tlv(3, ttl), Announcement{}, true},
		{"chassis twice", head + tlv(1, mac), Announcement{}, true},
		{"short TTL", tlv(1, mac) + tlv(2, portName) + tlv(3, "\x01"), Announcement{}, true},
		{"an identifier without content", tlv(1, "\x04") + tlv(2, portName) + tlv(3, ttl), Announcement{}, true},
		{"longer than the frame", head + "\x0a\xff" + "x", Announcement{}, true},
		{"half a header", head + "\x0a", Announcement{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := parse([]byte(row.pdu))
			if got != row.want || errors.Is(err, ErrMalformed) != row.bad {
				t.Errorf("%+v, %v, want %+v", got, err, row.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(tlv(1, mac) + tlv(2, portName) + tlv(3, ttl) + tlv(5, "leaf") + tlv(0, "")))
	f.Add([]byte(tlv(1, "\x05\x02abc") + tlv(2, "\x07\xff") + tlv(3, "\x00\x00")))
	f.Fuzz(func(t *testing.T, pdu []byte) {
		a, err := parse(pdu)
		if err != nil {
			if a != (Announcement{}) {
				t.Errorf("%+v with an error", a)
			}
			return
		}
		if a.Chassis == "" || a.Port == "" || !protocol.HostText(a.Chassis) || !protocol.HostText(a.Port) || !protocol.HostText(a.System) {
			t.Errorf("%+v", a)
		}
	})
}

func TestHeardIsBounded(t *testing.T) {
	h := Heard{}
	for i := range 20 {
		h.add(1, protocol.Neighbour{Chassis: "c", Port: strings.Repeat("p", i%10+1)})
	}
	if len(h[1]) != protocol.MaxNeighbours {
		t.Errorf("%d neighbours", len(h[1]))
	}
}
