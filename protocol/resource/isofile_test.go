package resource

import (
	"strings"
	"testing"
)

func TestValidISOFile(t *testing.T) {
	for name, want := range map[string]bool{
		"debian-12.5.0-amd64-netinst.iso": true,
		"CentOS-Stream-9 (latest).ISO":    true,
		"ä.iso":                           true,
		"a":                               true,
		"a..b":                            true,
		strings.Repeat("a", 255):          true,
		strings.Repeat("a", 256):          false,
		strings.Repeat("ä", 128):          false, // 256 bytes
		"":                                false,
		".":                               false,
		"..":                              false,
		".hidden.iso":                     false,
		"a/b":                             false,
		"/a":                              false,
		`a\b`:                             false,
		"a\x00b":                          false,
		"a\nb":                            false,
		"a\u202eb":                        false, // turns what follows around on a terminal
		"a\u00a0b":                        false,
		" a":                              false,
		"a ":                              false,
		"a\xff":                           false,
		"a\ufffd":                         false,
	} {
		if got := ValidISOFile(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
