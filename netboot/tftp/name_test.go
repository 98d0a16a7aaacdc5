package tftp

import (
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	for _, row := range []struct {
		source, in string
		want       target
		ok         bool
	}{
		{"plain", "grubx64.efi", target{file: "grubx64.efi"}, true},
		{"folder", "grub/grub.cfg", target{file: "grub/grub.cfg"}, true},
		{"leading slash", "/grubx64.efi", target{file: "grubx64.efi"}, true},
		{"shim: doubled slash", "//grubx64.efi", target{file: "grubx64.efi"}, true},
		{"backslashes", `\dir\bootx64.efi`, target{file: "dir/bootx64.efi"}, true},
		{"option 67 without NUL: old Intel UNDI, Lenovo T460", "boot.efi\xff", target{file: "boot.efi"}, true},
		{"next option's tag and more", "boot.efi\x0c\xff\xff", target{file: "boot.efi"}, true},
		{"line end", "boot.efi\r\n", target{file: "boot.efi"}, true},
		{"shim 15.8 on Dell and Lenovo", "\xeaonboard", target{}, false},
		{"the same in a folder", "/b/tok/\xeaonboard", target{}, false},
		{"control byte within", "bo\x01ot.efi", target{}, false},
		{"UTF-8 within", "böt.efi", target{}, false},
		{"token", "b/tok/boot.efi", target{"tok", "boot.efi"}, true},
		{"token with slash", "/b/tok/boot.efi", target{"tok", "boot.efi"}, true},
		{"token with backslashes", `\b\tok\grub\grub.cfg`, target{"tok", "grub/grub.cfg"}, true},
		{"token without file", "b/tok", target{}, false},
		{"token without file, with slash", "/b/tok/", target{}, false},
		{"the token of refusals", "/b/refused/refused.efi", target{}, false},
		{"the prefix alone", "/b/", target{}, false},
		{"dots", "./boot.efi", target{file: "boot.efi"}, true},
		{"up", "../boot.efi", target{}, false},
		{"up within", "a/../boot.efi", target{}, false},
		{"up by backslash", `a\..\..\etc\passwd`, target{}, false},
		{"three dots are a name", ".../x", target{file: ".../x"}, true},
		{"empty", "", target{}, false},
		{"slashes only", "///", target{}, false},
		{"garbage only", "\xff\xff", target{}, false},
		{"as long as may be", strings.Repeat("x", maxName), target{file: strings.Repeat("x", maxName)}, true},
		{"longer", strings.Repeat("x", maxName+1), target{}, false},
	} {
		if got, ok := parseName(row.in); got != row.want || ok != row.ok {
			t.Errorf("%s: %q is %+v, %v", row.source, row.in, got, ok)
		}
	}
}
