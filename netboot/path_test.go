package netboot

import (
	"net/netip"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestBaseURL(t *testing.T) {
	for base, want := range map[string]string{ // "" is an error
		"":                        "http://10.0.0.1",
		"http://10.0.0.2:8080":    "http://10.0.0.2:8080",
		"http://10.0.0.2:8080/":   "http://10.0.0.2:8080",
		"https://[fd00::1]:443":   "https://[fd00::1]:443",
		"http://boot.example":     "",
		"http://10.0.0.2/path":    "",
		"http://10.0.0.2?q=1":     "",
		"http://user@10.0.0.2":    "",
		"tftp://10.0.0.2":         "",
		"10.0.0.2:8080":           "",
		"http://":                 "",
		"http://10.0.0.2:80:80/x": "",
	} {
		got, err := BaseURL(resource.SegmentIntent{Name: "rack1", Address: netip.MustParseAddr("10.0.0.1"), BaseURL: base})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q gives %q, %v; want %q", base, got, err, want)
		}
		if err != nil && (protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "") {
			t.Errorf("%q: %s without hint", base, protocol.CodeOf(err))
		}
	}
}

// TestBaseURLFor: a client hears of addresses of the family that it asks by.
func TestBaseURLFor(t *testing.T) {
	only4 := resource.SegmentIntent{Name: "rack1", Address: netip.MustParseAddr("10.0.0.1"), BaseURL: "http://10.0.0.1:8080"}
	with := func(base, address string) resource.SegmentIntent {
		seg := only4
		seg.IPv6 = &resource.SegmentIPv6Intent{Address: netip.MustParseAddr(address), BaseURL: base}
		return seg
	}
	for _, row := range []struct {
		name   string
		seg    resource.SegmentIntent
		client string // "" is none
		want   string
		code   protocol.Code
	}{
		{"IPv4", with("http://[2001:db8::1]:8080", "2001:db8::1"), "10.0.0.50", "http://10.0.0.1:8080", ""},
		{"IPv4 at a socket of both", with("http://[2001:db8::1]:8080", "2001:db8::1"), "::ffff:10.0.0.50", "http://10.0.0.1:8080", ""},
		{"nobody", with("http://[2001:db8::1]:8080", "2001:db8::1"), "", "http://10.0.0.1:8080", ""},
		{"IPv6", with("http://[2001:db8::1]:8080", "2001:db8::1"), "2001:db8::1000", "http://[2001:db8::1]:8080", ""},
		{"IPv6 by its link", with("https://[2001:db8::1]", "2001:db8::1"), "fe80::1%eth0", "https://[2001:db8::1]", ""},
		{"no base URL", with("", "2001:db8::1"), "2001:db8::1000", "http://[2001:db8::1]", ""},
		{"no IPv6 side", only4, "2001:db8::1000", "", protocol.CodeNotFound},
		{"a base of IPv4", with("http://10.0.0.1:8080", "2001:db8::1"), "2001:db8::1000", "", protocol.CodeInvalid},
		{"a base of nobody", with("http://[::]:80", "2001:db8::1"), "2001:db8::1000", "", protocol.CodeInvalid},
		{"a link-local base", with("http://[fe80::1]:80", "2001:db8::1"), "2001:db8::1000", "", protocol.CodeInvalid},
		{"a base with a name", with("http://boot.example", "2001:db8::1"), "2001:db8::1000", "", protocol.CodeInvalid},
		{"a link-local address", with("", "fe80::1"), "2001:db8::1000", "", protocol.CodeInvalid},
	} {
		var client netip.Addr
		if row.client != "" {
			client = netip.MustParseAddr(row.client)
		}
		got, err := BaseURLFor(row.seg, client)
		if protocol.CodeOf(err) != row.code || err == nil && got != row.want {
			t.Errorf("%s: %q, %v; want %q %s", row.name, got, err, row.want, row.code)
		}
		if err != nil && protocol.HintOf(err) == "" {
			t.Errorf("%s: no hint with %v", row.name, err)
		}
	}
}

func TestBootURL(t *testing.T) {
	if got := BootURL("http://10.0.0.1", "t", "boot.efi"); got != "http://10.0.0.1/b/t/boot.efi" {
		t.Error(got)
	}
	if got := BootURL("http://10.0.0.1", "t", "a b/c?.efi"); got != "http://10.0.0.1/b/t/a%20b/c%3F.efi" {
		t.Error(got)
	}
	if got := BootURL("http://10.0.0.1", "t", ""); got != "http://10.0.0.1/b/t/" {
		t.Error(got)
	}
}
