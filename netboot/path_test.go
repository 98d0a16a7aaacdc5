package netboot

import (
	"net/netip"
	"testing"

	"rackboot/protocol"
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
		got, err := BaseURL(protocol.SegmentIntent{Name: "rack1", Address: netip.MustParseAddr("10.0.0.1"), BaseURL: base})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q gives %q, %v; want %q", base, got, err, want)
		}
		if err != nil && (protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "") {
			t.Errorf("%q: %s without hint", base, protocol.CodeOf(err))
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
