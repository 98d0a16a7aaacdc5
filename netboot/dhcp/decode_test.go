package dhcp

import (
	"bytes"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

// TestDecode is what clients do that the codec does not take (section 8, rows 15
// and 23).
func TestDecode(t *testing.T) {
	good := client(dhcpv4.MessageTypeDiscover, mac1, withText(60, prefixHTTPClient)).ToBytes()
	end := bytes.LastIndexByte(good, optionEnd)
	overloaded := func(bits byte, file, sname string) []byte {
		p := client(dhcpv4.MessageTypeDiscover, mac1, with(52, bits)).ToBytes()
		copy(p[fileAt:cookieAt], file)
		copy(p[snameAt:fileAt], sname)
		return p
	}
	const options = "\x3c\x0aHTTPClient\xff"
	for _, row := range []struct {
		name string
		raw  []byte
		want protocol.ClientClass // empty: refused
	}{
		{"as it should be", good, protocol.ClassHTTPClient},
		{"without END, and nothing behind", good[:end], protocol.ClassHTTPClient},
		{"without END, padded", append(bytes.Clone(good[:end]), make([]byte, 40)...), protocol.ClassHTTPClient},
		{"PAD before END (U-Boot dislikes it in ours)", append(append(bytes.Clone(good[:end]), 0, 0, 0), optionEnd), protocol.ClassHTTPClient},
		{"PAD between options", append(append(bytes.Clone(good[:optionsAt]), 0, 0), good[optionsAt:]...), protocol.ClassHTTPClient},
		{"junk after END", append(bytes.Clone(good[:end+1]), 60, 9, 1), protocol.ClassHTTPClient},
		{"cut in an option", good[:end-1], ""},
		{"cut after a code", append(bytes.Clone(good[:end]), 12), ""},
		{"header only", good[:optionsAt-1], ""},
		{"option 52: options in file", overloaded(1, options, ""), protocol.ClassHTTPClient},
		{"option 52: options in sname", overloaded(2, "", options), protocol.ClassHTTPClient},
		{"option 52: in both, joined in order", overloaded(3, "\x3c\x04HTTP\xff", "\x3c\x06Client\xff"), protocol.ClassHTTPClient},
		{"option 52: without END in file", overloaded(1, "\x3c\x0aHTTPClient", ""), protocol.ClassHTTPClient},
		{"option 52: file is not options", overloaded(1, "\x3c\xffHTTP", ""), ""},
		{"option 52 says none", overloaded(0, options, options), protocol.ClassNone},
		{"option 52 of an unknown value", overloaded(4, options, options), protocol.ClassNone},
	} {
		p, err := decode(row.raw)
		if (err == nil) != (row.want != "") {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if err == nil && classify(p) != row.want {
			t.Errorf("%s: %s, want %s", row.name, classify(p), row.want)
		}
	}
}

// FuzzRelay: no option 82 breaks the parser, and what it says is bounded by it.
func FuzzRelay(f *testing.F) {
	for _, s := range []string{"", "\x01\x02p7", "\x05\x04\x0a\x63\x00\x00", "\x13\x00", "\x0b\x04\x0a\x63\x00\x03\x02\x03sw1", "\x01\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := parseRelay(raw)
		if len(r.port) > 2*len(raw)+5 || r.link.IsValid() && !r.link.Is4() || r.serverID.IsValid() && !r.serverID.Is4() {
			t.Fatalf("%+v", r)
		}
	})
}

// TestMessageType: the type of a message without reading the rest of it, wherever it is.
func TestMessageType(t *testing.T) {
	for _, row := range []struct {
		options string
		want    byte
	}{
		{"\x35\x01\x03\xff", 3},
		{"\x35\x01\x03", 3},
		{"\x00\x00\x0c\x02n1\x35\x01\x08\xff", 8},
		{"\xff\x35\x01\x03", 0},
		{"\x35\x00\x03", 0},
		{"\x35\x01", 0},
		{"\x0c\x0an1\x35\x01\x03", 0},
		{"\x00\x00\x00", 0},
		{"", 0},
	} {
		if got := messageType([]byte(row.options)); got != row.want {
			t.Errorf("%x: %d, want %d", row.options, got, row.want)
		}
	}
}
