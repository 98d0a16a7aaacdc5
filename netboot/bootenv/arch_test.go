package bootenv

import (
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Facts, Loaders keys and fallback: arch names accepted.
func TestArch(t *testing.T) {
	for _, row := range []struct{ arch, names string }{
		{"rpi4", "rpi4"},
		{"amd64", "amd64 x86_64"},
		{"386", "386 486 686 i386 i486 i686"},
		{"arm", "arm armel armhfp armhf armv7hl"},
		{"arm64", "arm64 aarch64"},
		{"ppc64", "ppc64 power9"},
		{"ppc64le", "ppc64le ppc64el"},
		{"mips64", "mips64"},
		{"mips64le", "mips64le mips64el"},
		{"s390x", "s390x"},
		{"mips", "mips"},
		{"mipsle", "mipsle mipsel"},
		{"riscv64", "riscv64"},
		{"loong64", "loong64 loongarch64"},
	} {
		for name := range strings.FieldsSeq(row.names) {
			if got, err := Arch(name); got != row.arch || err != nil {
				t.Errorf("%s: %q, %v; want %s", name, got, err, row.arch)
			}
			err := CheckArch(name)
			switch {
			case name == row.arch && err != nil:
				t.Errorf("%s: %v", name, err)
			case name != row.arch && (err == nil || !strings.Contains(err.Error(), "use "+row.arch+" instead of "+name)):
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range []string{"", "any", "vax", "AMD64"} {
		if _, err := Arch(name); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestDistroArch(t *testing.T) {
	for _, row := range []struct{ family, arch, want string }{
		{"debian", "amd64", "amd64"},
		{"ubuntu", "arm64", "arm64"},
		{"debian", "ppc64le", "ppc64el"},
		{"debian", "386", "i386"},
		{"centos", "amd64", "x86_64"},
		{"fedora", "arm64", "aarch64"},
		{"opensuse", "ppc64le", "ppc64le"},
		{"flatcar", "amd64", "x86_64"},
		{"centos", "riscv64", "riscv64"},
	} {
		if got := distroArch(row.family, row.arch); got != row.want {
			t.Errorf("%s %s: %s, want %s", row.family, row.arch, got, row.want)
		}
	}
}

// Facts, BootEnv object: FamilyName, FamilyVersion, FamilyType, VersionEq.
func TestOSName(t *testing.T) {
	for _, row := range []struct {
		os                    resource.EnvOS
		family, version, kind string
	}{
		{resource.EnvOS{Name: "debian-12"}, "debian", "12", "debian"},
		{resource.EnvOS{Name: "ubuntu-24.04-live"}, "ubuntu", "24.04", "debian"},
		{resource.EnvOS{Name: "centos-9", Version: "9.3"}, "centos", "9.3", "rhel"},
		{resource.EnvOS{Name: "redhat-9"}, "redhat", "9", "rhel"},
		{resource.EnvOS{Name: "fedora-42"}, "fedora", "42", "rhel"},
		{resource.EnvOS{Name: "scientificlinux-7"}, "scientificlinux", "7", "rhel"},
		{resource.EnvOS{Name: "sle-15", Family: "suse"}, "suse", "15", "suse"},
		{resource.EnvOS{Name: "flatcar"}, "flatcar", "", "flatcar"},
	} {
		if f, v, k := familyOf(row.os), versionOf(row.os), familyType(familyOf(row.os)); f != row.family || v != row.version || k != row.kind {
			t.Errorf("%+v: %q %q %q", row.os, f, v, k)
		}
	}
	for _, row := range []struct {
		version, want string
		eq            bool
	}{{"12.5", "12", true}, {"12.5", "12.5", true}, {"12", "12.5", false}, {"12.5", "1", false}, {"12.5.1", "12.5", true}} {
		if versionEq(row.version, row.want) != row.eq {
			t.Errorf("%s and %s: want %v", row.version, row.want, row.eq)
		}
	}
}
