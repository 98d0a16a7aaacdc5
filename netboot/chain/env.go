package chain

import (
	"path"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Env is what a boot environment has for one kind of machine. Paths are those of the
// server's files.
type Env struct {
	// Loader is the operating system's own boot loader; empty takes one of the site's.
	Loader string
	// IPXE is what iPXE is told of in its place: a loader, or [protocol.IPXEScript]; empty
	// is the script where the site's loaders load the kernel, else Loader.
	IPXE string
	// UKI is a unified kernel image, in place of all that follows.
	UKI     string
	Kernel  string
	Initrds []string
	// CommandLine is the kernel's, as it is but for the token and the base URL of a boot.
	CommandLine string
}

// Files are the files that it begins with, without repeats; what is rendered is not among them.
func (e Env) Files() (out []string) {
	for _, name := range append([]string{e.Loader, e.UKI, e.Kernel}, append(slices.Clone(e.Initrds), e.IPXE)...) {
		if name != "" && name != protocol.IPXEScript && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// last is the file after whose last byte the operating system may run.
func (e Env) last() string {
	switch {
	case e.UKI != "":
		return e.UKI
	case len(e.Initrds) > 0:
		return e.Initrds[len(e.Initrds)-1]
	case e.Kernel != "":
		return e.Kernel
	}
	return e.Loader
}

// ChooseEnv gives the chain by which a machine boots an environment, whose files are those
// of the generation view. r.Image is not used. The error is unsupported.
//
// A UKI goes before a loader of the environment's own, and that before the site's, of which
// the choice is that of Choose. An own loader that is told to load a kernel by a
// configuration of ours is no other case: it asks for grub.cfg, and gets it.
func ChooseEnv(r Request, e Env, view string) (protocol.BootChain, error) {
	c := protocol.BootChain{View: view, Last: e.last()}
	switch {
	case e.UKI != "", e.Loader != "":
		if v := r.fitsAll(protocol.ChainUKI, partYes, loadsAll); v != fits {
			return protocol.BootChain{}, protocol.Errorf(protocol.CodeUnsupported, "choose boot chain", "no chain fits %s of the boot environment on %s: %s", r.words(), r.Architecture, v).
				WithHint("%s", v.hint(r.Architecture))
		}
		c.Kind, c.First, c.IPXE = protocol.ChainBootEnv, e.Loader, e.IPXE
		if e.UKI != "" { // iPXE starts it too
			c.Kind, c.First, c.IPXE = protocol.ChainUKI, e.UKI, ""
		}
		return c, nil
	case e.Kernel == "":
		return protocol.BootChain{}, protocol.Errorf(protocol.CodeUnsupported, "choose boot chain", "the boot environment has no kernel, no UKI and no loader for %s", r.Architecture).
			WithHint("give os.supportedArchitectures.%s a kernel, a uki or a loader", r.Architecture)
	}
	// Stand for what is in the files: none of it is kept by digest.
	r.Image = resource.Image{Digest: "of the boot environment", CommandLine: e.CommandLine, Artefacts: []resource.Artefact{
		{Kind: resource.ArtefactKernel}, {Kind: resource.ArtefactInitramfs},
	}}
	site, err := Choose(r)
	if err != nil {
		return protocol.BootChain{}, err
	}
	c.Kind, c.First, c.IPXE = site.Kind, site.First, e.IPXE
	for _, f := range site.Files {
		if f.Digest != "" {
			c.Files = append(c.Files, f)
		}
	}
	return c, nil
}

// AsksConfig says whether a clean name is that of a loader's configuration or script,
// which is rendered where the environment has no template for it. A menu of the
// installation medium is never given in its place: what it boots nobody has ordered.
func AsksConfig(name string) (config, script bool) {
	base := strings.ToLower(path.Base(name))
	return base == configName || strings.HasPrefix(base, configName+"-"), base == protocol.IPXEScript
}

// EnvConfig is [Config] for a kernel of a boot environment; line is its command line for
// this boot.
func EnvConfig(e Env, token, line string) string {
	return config(token, kernel{e.Kernel, e.Initrds, strings.Fields(line)})
}

// EnvScript is [Script] likewise.
func EnvScript(e Env, base, token, line string) string {
	return script(base, token, kernel{e.Kernel, e.Initrds, strings.Fields(line)})
}
