package bootenv

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// amd64 is the architecture of the fields that an environment has outside of
// os.supportedArchitectures.
const amd64 = "amd64"

// archOf is what the environment has for an architecture in Go's spelling, whichever
// spelling it is under there.
func archOf(s resource.BootEnvSpec, arch string) (a resource.EnvArch, ok bool) {
	if a, ok = s.OS.SupportedArchitectures[arch]; ok {
		return a, true
	}
	for _, k := range sortedKeys(s.OS.SupportedArchitectures) {
		if canonical, err := Arch(k); err == nil && canonical == arch {
			return s.OS.SupportedArchitectures[k], true
		}
	}
	return a, false
}

// fallback is what an environment has for an architecture, with the fields outside of
// os.supportedArchitectures where those are meant:
//
//	architecture | its entry | kernel, initrds, bootParams       | isoFile, sha256, isoUrl
//	amd64        | none      | those outside                     | those outside
//	amd64        | there     | each of its own, or that outside  | its own, also if empty
//	another      | none      | none                              | none
//	another      | there     | its own                           | its own
//
// dr-provision boots every architecture from the kernel outside where it has none of its
// own; seed 004 calls it a field of amd64, and an arm64 server cannot boot it.
func fallback(s resource.BootEnvSpec, arch string) resource.EnvArch {
	a, ok := archOf(s, arch)
	if arch != amd64 {
		return a
	}
	if !ok {
		a.IsoFile, a.Sha256, a.IsoURL = s.OS.IsoFile, s.OS.IsoSha256, s.OS.IsoURL
	}
	if a.UKI != "" {
		return a // it is in place of the three
	}
	if a.Kernel == "" {
		a.Kernel = s.Kernel
	}
	if len(a.Initrds) == 0 {
		a.Initrds = s.Initrds
	}
	if a.BootParams == "" {
		a.BootParams = s.BootParams
	}
	return a
}

// LoaderSource says who gives the boot loader of a kind of machine.
type LoaderSource string

// The sources, in the order in which they are asked.
const (
	LoaderFromEnv   LoaderSource = "loaders"                            // loaders of the environment, below its root
	LoaderFromArch  LoaderSource = "os.supportedArchitectures"          // loader of the architecture, below its root
	LoaderFromParam LoaderSource = "param " + resource.ParamBootloaders // anywhere in the server's file system
	LoaderFromSite  LoaderSource = "site"                               // none of these: the agent's own loaders
)

// fallbackKeys are the keys of loaders that serve a kind of machine, the best first. UEFI
// that boots by HTTP starts what it starts by PXE; iPXE is told of a loader only where the
// environment has one for iPXE, because it can load a kernel itself (see [Effective.Boot] for
// where it cannot).
func fallbackKeys(key resource.LoaderKey) []resource.LoaderKey {
	switch key {
	case resource.LoaderAMD64HTTP:
		return []resource.LoaderKey{key, resource.LoaderAMD64}
	case resource.LoaderARM64HTTP:
		return []resource.LoaderKey{key, resource.LoaderARM64}
	case resource.LoaderRISCV64HTTP:
		return []resource.LoaderKey{key, resource.LoaderRISCV64}
	default:
	}
	return []resource.LoaderKey{key}
}

// byIPXE says whether iPXE asks.
func byIPXE(key resource.LoaderKey) bool {
	return key == resource.LoaderAMD64IPXE || key == resource.LoaderARM64IPXE
}

// firmwareKey is the kind of machine whose loader iPXE starts where it can do nothing by
// itself. It loads by HTTP, and so takes that for HTTP before that for PXE.
func firmwareKey(ipxe resource.LoaderKey) resource.LoaderKey {
	if ipxe == resource.LoaderARM64IPXE {
		return resource.LoaderARM64HTTP
	}
	return resource.LoaderAMD64HTTP
}

// IPXEKey is the kind of machine that iPXE is on an architecture; ok is false where there
// is none.
func IPXEKey(arch string) (key resource.LoaderKey, ok bool) {
	key = resource.LoaderKey(arch + "-ipxe")
	return key, byIPXE(key)
}

// loaderFor is the loader of a kind of machine and who gives it (facts: dr-provision's
// fallback order). bootloaders are the values of that param, the most specific first, with
// the schema's default at the end. A path of the environment is below its root, one of the
// param is in the server's file system.
//
// Legacy BIOS is an unsupported error: descriptions may have a loader for it, and nothing
// is booted by it. An unknown kind is an invalid error.
func loaderFor(s resource.BootEnvSpec, key resource.LoaderKey, bootloaders []map[string]string) (path string, from LoaderSource, err error) {
	const op = "choose loader"
	switch {
	case key == resource.LoaderBIOS:
		return "", "", protocol.Errorf(protocol.CodeUnsupported, op, "legacy BIOS (%s) is not booted", key).
			WithHint("set the server to UEFI in its firmware's setup")
	case !slices.Contains(resource.LoaderKeys(), key):
		return "", "", protocol.Errorf(protocol.CodeInvalid, op, "%q is not a supported loader type", key)
	}
	for _, k := range fallbackKeys(key) {
		if l := s.Loaders[k]; l != "" {
			return l, LoaderFromEnv, nil
		}
	}
	if a, _ := archOf(s, archOfKey(key)); a.Loader != "" && !byIPXE(key) {
		return a.Loader, LoaderFromArch, nil
	}
	for _, values := range bootloaders {
		for _, k := range fallbackKeys(key) {
			if l := values[string(k)]; l != "" {
				return l, LoaderFromParam, nil
			}
		}
	}
	return "", LoaderFromSite, nil
}
