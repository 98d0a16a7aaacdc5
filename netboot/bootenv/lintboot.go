package bootenv

import (
	"slices"
	"text/template/parse"

	"rackboot/protocol/resource"
)

// boots wants something to start for each architecture.
func (fs *findings) boots(b resource.EnvBundle, all []*unit) {
	f := folded(b.Spec)
	for _, arch := range sortedKeys(f.OS.SupportedArchitectures) {
		a := f.OS.SupportedArchitectures[arch]
		have, lack := ownLoaders(b, f, arch)
		switch {
		case a.UKI != "" && a.Kernel == "":
		case a.Kernel != "" || a.Image != "":
			uki := a.UKI != "" && b.KernelArgs == "" // goes before the kernel
			fs.plainParams(paramsPath(b.Spec, arch), all, uki || len(have) > 0, lack)
		case len(have) == 0:
			fs.err("spec.os.supportedArchitectures."+arch+".kernel", nothingHint, "there is nothing to boot for %s", arch)
		case len(lack) > 0:
			fs.warn("spec.os.supportedArchitectures."+arch+".kernel", nothingHint, "there is nothing to boot for %s", joined(lack))
		}
		if a.UKI != "" && a.BootParams != "" {
			fs.warn("spec.os.supportedArchitectures."+arch+".bootParams", "leave them out, or give a kernel and initrds", "a UKI takes no kernel arguments")
		}
	}
	if len(f.OS.SupportedArchitectures) > 0 {
		return
	}
	for _, key := range resource.LoaderKeys() {
		if have, _ := ownLoaders(b, f, archOfKey(key)); len(have) > 0 {
			return
		}
	}
	fs.err("spec.os.supportedArchitectures", nothingHint, "there is nothing to boot")
}

// nothingHint is what to do where there is nothing to boot. The site's loaders start a
// kernel only; a template does not make more of them.
const nothingHint = "give a kernel, a uki, an image or a loader; if the param " + resource.ParamBootloaders + " gives one, name it in requiredParams"

// ownLoaders are the kinds of machines of an architecture whose firmware starts a loader that
// is not the site's, and those for which there is none: the environment's, or that of a
// param which is there or is declared.
func ownLoaders(b resource.EnvBundle, folded resource.BootEnvSpec, arch string) (have, lack []resource.LoaderKey) {
	declared := slices.Contains(slices.Concat(b.Spec.RequiredParams, b.Spec.OptionalParams), resource.ParamBootloaders)
	var given []map[string]string
	if p, err := newParams(b); err == nil { // else params says what is wrong
		given, _ = p.bootloaders()
	}
	for _, key := range resource.LoaderKeys() {
		if archOfKey(key) != arch || byIPXE(key) || key == resource.LoaderBIOS {
			continue
		}
		if _, from, err := loaderFor(folded, key, given); declared || err == nil && from != LoaderFromSite {
			have = append(have, key)
		} else {
			lack = append(lack, key)
		}
	}
	return have, lack
}

// plainParams looks for what the site's loaders change in the kernel's arguments that stand
// there as they are; what a template makes of values is seen where it is rendered. It is an
// error unless some machines boot the environment all the same.
func (fs *findings) plainParams(at string, all []*unit, some bool, lack []resource.LoaderKey) {
	for _, u := range all {
		if u.name != at || len(lack) == 0 {
			continue
		}
		for _, n := range u.trees[u.name].Root.Nodes {
			text, is := n.(*parse.TextNode)
			if !is || plain(string(text.Text)) {
				continue
			}
			severity := SeverityError
			if some {
				severity = SeverityWarning
			}
			fs.at(severity, u, text.Pos, "leave them out, or give "+joined(lack)+" a loader and its configuration",
				"a quote, a backslash, ${ or a lone operator, which GRUB and iPXE change")
			return
		}
	}
}
