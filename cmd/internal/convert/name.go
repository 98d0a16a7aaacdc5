package convert

import (
	"net"
	"strings"

	"rackboot/protocol"
)

// Name fits a name to what resources are called: lower case, everything but a-z, 0-9 and - as -, and at
// most 63 characters. It returns an empty text where nothing is left.
func Name(s string) string {
	if protocol.ValidName(s) {
		return s
	}
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(strings.TrimSpace(s)))
	out = strings.Trim(out, "-")
	if len(out) > 63 {
		out = strings.TrimRight(out[:63], "-")
	}
	return out
}

// Named says of a field that its text is the name of a resource, as it was or fitted.
func (f Field) Named(name string, to ...string) {
	if f.Text() == name {
		f.Taken(to...)
	} else {
		f.Changed(NameFitted, to...)
	}
}

// MAC writes a MAC address in the form that Rackboot has; ok is false for what is not one of a single
// Ethernet interface.
func MAC(s string) (mac string, ok bool) {
	hw, err := net.ParseMAC(strings.TrimSpace(s))
	if err != nil || len(hw) != 6 || hw[0]&1 == 1 {
		return "", false
	}
	return hw.String(), true
}

// Spelled says of a field that its text is in a manifest, as it was or spelled otherwise.
func (f Field) Spelled(text string, to ...string) {
	if f.Text() == text {
		f.Taken(to...)
	} else {
		f.Changed(SpellingFitted, to...)
	}
}

// Architecture is GOARCH's word for an architecture; ok is false for one that is not booted.
func Architecture(s string) (arch string, ok bool) {
	switch strings.ToLower(s) {
	case "amd64", "x86_64", "x86-64":
		return "amd64", true
	case "arm64", "aarch64":
		return "arm64", true
	}
	return "", false
}
