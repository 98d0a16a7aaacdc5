package bootenv

import (
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// spelling are the names of one architecture: Go's, those of Debian's and of Red Hat's and
// SUSE's packages, and others that people write.
type spelling struct {
	arch     string
	deb, rpm string
	other    []string
}

// spellings lists the architectures (dr-provision, models/machine.go, SupportedArch; Debian's
// and riscv64, loong64 on top).
func spellings() []spelling {
	return []spelling{
		{"amd64", "amd64", "x86_64", nil},
		{"arm64", "arm64", "aarch64", nil},
		{"riscv64", "riscv64", "riscv64", nil},
		{"386", "i386", "i686", []string{"486", "686", "i486"}},
		{"arm", "armhf", "armhfp", []string{"armel", "armv7hl"}},
		{"ppc64", "ppc64", "ppc64", []string{"power9"}},
		{"ppc64le", "ppc64el", "ppc64le", nil},
		{"mips64", "mips64", "mips64", nil},
		{"mips64le", "mips64el", "mips64el", nil},
		{"s390x", "s390x", "s390x", nil},
		{"mips", "mips", "mips", nil},
		{"mipsle", "mipsel", "mipsel", nil},
		{"loong64", "loong64", "loongarch64", nil},
		{"rpi4", "arm64", "aarch64", nil},
	}
}

// AnyArch is the architecture of a repository with packages for several.
const AnyArch = "any"

// Arch is Go's name of an architecture, from any spelling of it. An unknown one is
// an invalid error.
func Arch(name string) (string, error) {
	all := spellings()
	i := slices.IndexFunc(all, func(s spelling) bool {
		return name == s.arch || s.arch != "rpi4" && (name == s.deb || name == s.rpm || slices.Contains(s.other, name))
	})
	if i < 0 {
		var known []string
		for _, s := range all {
			known = append(known, s.arch)
		}
		return "", protocol.Errorf(protocol.CodeInvalid, "read architecture", "%q is no known architecture", name).
			WithHint("use one of %s", strings.Join(known, ", "))
	}
	return all[i].arch, nil
}

// CheckArch refuses, as invalid, every spelling of an architecture but Go's.
func CheckArch(name string) error {
	arch, err := Arch(name)
	if err == nil && arch != name {
		return protocol.Errorf(protocol.CodeInvalid, "read architecture", "use %s instead of %s", arch, name)
	}
	return err
}

// distroArch is how the packages of a family of operating systems spell an architecture,
// which is Go's name: Debian's family amd64, everybody else x86_64.
func distroArch(family, arch string) string {
	for _, s := range spellings() {
		switch {
		case s.arch != arch:
		case familyType(family) == "debian":
			return s.deb
		default:
			return s.rpm
		}
	}
	return arch
}

// archOfKey is the architecture of a kind of machine.
func archOfKey(k resource.LoaderKey) string {
	arch, _, _ := strings.Cut(string(k), "-")
	return arch
}
