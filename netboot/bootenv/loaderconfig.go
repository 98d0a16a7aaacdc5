package bootenv

import (
	"path"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// loaderKind is a family of boot loaders, by where they look for their configuration.
type loaderKind struct {
	name string
	// loader says whether a file, by its name in small letters, is one of them.
	loader func(name string) bool
	// config is in the path of a configuration of theirs.
	config []string
	// beside are names of configurations that lie beside the loader.
	beside []string
}

// loaderKinds lists those that are known (facts: template look-up paths). Others, as
// systemd-boot and memtest, need none or find theirs where the ISO has it.
func loaderKinds() []loaderKind {
	has := func(parts ...string) func(string) bool {
		return func(name string) bool {
			return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
		}
	}
	return []loaderKind{
		{"iPXE", has("ipxe", "snponly", "undionly"), []string{".ipxe"}, nil},
		{"PXELINUX", has("pxelinux", "syslinux"), []string{"pxelinux.cfg/", "syslinux.cfg"}, nil},
		{"GRUB", has("shim", "grub", "bootx64.efi", "bootaa64.efi", "bootriscv64.efi"), []string{"grub.cfg", "grub/"}, []string{"grub.cfg"}},
	}
}

// kindOf is the family of a loader; ok is false of others.
func kindOf(loader string) (k loaderKind, ok bool) {
	name := strings.ToLower(path.Base(loader))
	kinds := loaderKinds()
	i := slices.IndexFunc(kinds, func(k loaderKind) bool { return k.loader(name) })
	if i < 0 {
		return k, false
	}
	return kinds[i], true
}

// configures says whether a path, or its template, is that of a configuration.
func (k loaderKind) configures(p string) bool {
	return slices.ContainsFunc(k.config, func(c string) bool { return strings.Contains(strings.ToLower(p), c) })
}

// loaders wants a configuration for each of the environment's own loaders: without one it
// stops at a prompt that nobody sees.
func (fs *findings) loaders(s resource.BootEnvSpec, have func(path string) bool) {
	check := func(at, loader string) {
		k, ok := kindOf(loader)
		if !ok || loader == "" || slices.ContainsFunc(s.Templates, func(t resource.EnvTemplate) bool { return k.configures(t.Path) }) {
			return
		}
		for _, name := range k.beside {
			if p := path.Join(path.Dir(loader), name); have != nil && have(p) {
				fs.warn(at, "add a template for a path such as {{.Env.PathFor \"disk\" \""+p+"\"}}", "%s %s finds the configuration of the ISO file, which is for a CD drive", k.name, loader)
				return
			}
		}
		fs.err(at, "add a template for its configuration, with "+k.config[0]+" in its path", "%s %s has no configuration: no template lies where it looks", k.name, loader)
	}
	for _, key := range sortedKeys(s.Loaders) {
		at := "spec.loaders." + string(key)
		if key == resource.LoaderBIOS {
			fs.warn(at, "", "legacy BIOS is not booted, and the loader not used")
			continue
		}
		check(at, s.Loaders[key])
	}
	for _, arch := range sortedKeys(s.OS.SupportedArchitectures) {
		check("spec.os.supportedArchitectures."+arch+".loader", s.OS.SupportedArchitectures[arch].Loader)
	}
}
