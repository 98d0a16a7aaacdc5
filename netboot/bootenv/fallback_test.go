package bootenv

import (
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Facts, BootEnv object: fallback per arch, and the seed: kernel, initrds and bootParams
// outside of os.supportedArchitectures are legacy fields of amd64.
func TestFallback(t *testing.T) {
	outside := resource.BootEnvSpec{
		Kernel: "old/vmlinuz", Initrds: []string{"old/initrd"}, BootParams: "old",
		OS: resource.EnvOS{IsoFile: "old.iso", IsoSha256: "0", IsoURL: "http://old"},
	}
	with := func(arch string, a resource.EnvArch) resource.BootEnvSpec {
		s := outside
		s.OS.SupportedArchitectures = map[string]resource.EnvArch{arch: a}
		return s
	}
	own := resource.EnvArch{Kernel: "k", Initrds: []string{"i", "j"}, BootParams: "b", IsoFile: "n.iso", Sha256: "1", IsoURL: "http://n"}
	for _, row := range []struct {
		name string
		spec resource.BootEnvSpec
		arch string
		want string
	}{
		{"amd64 without an entry has what is outside", outside, "amd64", "old/vmlinuz|old/initrd|old|old.iso|0|http://old"},
		{"amd64 with its own", with("amd64", own), "amd64", "k|i,j|b|n.iso|1|http://n"},
		{"an empty entry of amd64: iso fields are its own, others are those outside", with("amd64", resource.EnvArch{}), "amd64", "old/vmlinuz|old/initrd|old|||"},
		{"each field for itself", with("amd64", resource.EnvArch{Kernel: "k"}), "amd64", "k|old/initrd|old|||"},
		{"a UKI is in place of the three", with("amd64", resource.EnvArch{UKI: "u"}), "amd64", "|||||"},
		{"another spelling", with("x86_64", own), "amd64", "k|i,j|b|n.iso|1|http://n"},
		{"arm64 without an entry has nothing", outside, "arm64", "|||||"},
		{"arm64 with an empty entry has nothing", with("arm64", resource.EnvArch{}), "arm64", "|||||"},
		{"arm64 with its own", with("aarch64", own), "arm64", "k|i,j|b|n.iso|1|http://n"},
		{"an entry of arm64 does not change amd64", with("arm64", own), "amd64", "old/vmlinuz|old/initrd|old|old.iso|0|http://old"},
	} {
		s, a := row.spec, row.arch
		got := strings.Join([]string{fallback(s, a).Kernel, strings.Join(fallback(s, a).Initrds, ","), fallback(s, a).BootParams, fallback(s, a).IsoFile, fallback(s, a).Sha256, fallback(s, a).IsoURL}, "|")
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
		if f := folded(s); fallback(f, a).Kernel != fallback(s, a).Kernel || fallback(f, a).IsoFile != fallback(s, a).IsoFile || fallback(f, a).BootParams != fallback(s, a).BootParams {
			t.Errorf("%s: folded it is another", row.name)
		}
	}
}

// Facts, Loaders keys and fallback.
func TestLoaderFor(t *testing.T) {
	env := func(arch string, keys ...string) resource.BootEnvSpec {
		s := resource.BootEnvSpec{Loaders: map[resource.LoaderKey]string{}, OS: resource.EnvOS{SupportedArchitectures: map[string]resource.EnvArch{}}}
		for _, k := range keys {
			s.Loaders[resource.LoaderKey(k)] = "env/" + k
		}
		if arch != "" {
			s.OS.SupportedArchitectures[arch] = resource.EnvArch{Loader: "arch/" + arch}
		}
		return s
	}
	server := map[string]string{"amd64-uefi": "server/amd64"}
	global := map[string]string{"amd64-uefi": "global/amd64", "arm64-uefi": "global/arm64"}
	initial := map[string]string{"riscv64-uefi": "default/riscv64"}
	params := []map[string]string{server, global, initial}
	for _, row := range []struct {
		name string
		spec resource.BootEnvSpec
		key  resource.LoaderKey
		path string
		from LoaderSource
	}{
		{"the environment's own", env("amd64", "amd64-uefi"), resource.LoaderAMD64, "env/amd64-uefi", LoaderFromEnv},
		{"1: loader of the architecture", env("amd64", "arm64-uefi"), resource.LoaderAMD64, "arch/amd64", LoaderFromArch},
		{"1: in another spelling", env("x86_64"), resource.LoaderAMD64, "arch/x86_64", LoaderFromArch},
		{"2: bootloaders of the server", env(""), resource.LoaderAMD64, "server/amd64", LoaderFromParam},
		{"3: bootloaders of the global profile, for a kind that the server's has not", env(""), resource.LoaderARM64, "global/arm64", LoaderFromParam},
		{"4: default of bootloaders", env(""), resource.LoaderRISCV64, "default/riscv64", LoaderFromParam},
		{"by HTTP its own first", env("", "amd64-uefi", "amd64-uefi-http"), resource.LoaderAMD64HTTP, "env/amd64-uefi-http", LoaderFromEnv},
		{"by HTTP else as by PXE", env("amd64", "amd64-uefi"), resource.LoaderAMD64HTTP, "env/amd64-uefi", LoaderFromEnv},
		{"by HTTP the param's of PXE", env(""), resource.LoaderARM64HTTP, "global/arm64", LoaderFromParam},
		{"riscv64 by HTTP", env("", "riscv64-uefi"), resource.LoaderRISCV64HTTP, "env/riscv64-uefi", LoaderFromEnv},
		{"iPXE is told of a loader for iPXE", env("", "amd64-ipxe"), resource.LoaderAMD64IPXE, "env/amd64-ipxe", LoaderFromEnv},
		{"and of no other: it loads the kernel", env("amd64", "amd64-uefi"), resource.LoaderAMD64IPXE, "", LoaderFromSite},
		{"arm64 likewise", env("arm64", "arm64-uefi"), resource.LoaderARM64IPXE, "", LoaderFromSite},
	} {
		path, from, err := loaderFor(row.spec, row.key, params)
		if path != row.path || from != row.from || err != nil {
			t.Errorf("%s: %q from %q, %v", row.name, path, from, err)
		}
	}
	if path, from, err := loaderFor(env(""), resource.LoaderAMD64, nil); path != "" || from != LoaderFromSite || err != nil {
		t.Errorf("5: the built-in ones are the site's: %q %q %v", path, from, err)
	}
	if _, _, err := loaderFor(env("", "386-pcbios"), resource.LoaderBIOS, nil); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("legacy BIOS is accepted in a description and not booted: %v", err)
	}
	if _, _, err := loaderFor(env(""), "vax-uefi", nil); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), "is not a supported loader type") {
		t.Error(err)
	}
}
