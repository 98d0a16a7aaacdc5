package bootenv

import (
	"context"
	"iter"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Boot is how a kind of machine boots an environment. Paths are in the server's file
// system.
type Boot struct {
	// Loader is the first file, empty where LoaderFrom is the site: then the agent's own
	// loaders are told of the UKI, or of kernel, initrds and command line.
	Loader     string
	LoaderFrom LoaderSource
	// UKI is in place of Kernel, Initrds and CommandLine.
	UKI     string
	Kernel  string
	Initrds []string
	// CommandLine is what the kernel is told, complete.
	CommandLine string
	// Origins are the params that the command line used.
	Origins []Origin
}

// bootKind says what an environment has to boot.
type bootKind string

const (
	bootUKI    bootKind = "uki"
	bootKernel bootKind = "kernel"
	bootBoth   bootKind = "both"
	bootNone   bootKind = "nothing"
)

// teller says who tells a loader what to start.
type teller string

const (
	tellOwn  teller = "own"  // the environment has a loader of its own
	tellSite teller = "site" // the site's loader, which the agent tells
)

// bootRule says what is started. The first row that fits decides.
//
//	has     | arguments | loader | started
//	nothing | *         | own    | loader
//	nothing | *         | site   | refused: it has no kernel, no UKI and no loader
//	uki     | no        | *      | uki
//	uki     | yes       | *      | refused: a UKI takes no kernel arguments
//	both    | no        | *      | uki
//	*       | *         | *      | kernel
//
// arguments are those of the server and the owner; a UKI has its own inside, and learns
// where to report from DHCP. The site's loaders start a kernel and nothing else, whatever a
// template tells them: which of them it would be is not known before the boot.
func bootRule(has bootKind, arguments yesno, by teller) string {
	switch {
	case has == bootNone && by == tellSite:
		return "refused: it has no kernel, no UKI and no loader"
	case has == bootNone:
		return "loader"
	case has == bootUKI && arguments == yes:
		return "refused: a UKI takes no kernel arguments"
	case has == bootUKI, has == bootBoth && arguments == no:
		return "uki"
	}
	return "kernel"
}

// tellerOf says who tells the loader of a boot.
func tellerOf(from LoaderSource) teller {
	if from != LoaderFromSite {
		return tellOwn
	}
	return tellSite
}

// Boot gives how a kind of machine boots, for one attempt. It is an unsupported error where
// it cannot be: legacy BIOS, nothing to start, arguments for a UKI, a command line that the
// site's loaders would change; else errors are those of Render.
func (e *Effective) Boot(ctx context.Context, key resource.LoaderKey, site Site) (Boot, error) {
	const op = "boot environment"
	loader, from, err := loaderFor(e.Spec, key, e.bootloaders)
	if err != nil {
		return Boot{}, err
	}
	if arch := archOfKey(key); arch != e.Arch {
		return Boot{}, protocol.Errorf(protocol.CodeUnsupported, op, "%s boots as %s, and is %s", e.Bundle.Machine.Name, key, e.Arch).
			WithHint("correct the server's architecture")
	}
	r, err := e.newRun(ctx, site)
	if err != nil {
		return Boot{}, err
	}
	kernel, uki := e.kernel(r.root), e.uki(r.root)
	has := bootNone
	switch {
	case uki != "" && kernel != "":
		has = bootBoth
	case uki != "":
		has = bootUKI
	case kernel != "":
		has = bootKernel
	}
	line, arguments := "", is(e.Bundle.KernelArgs != "")
	if bootRule(has, arguments, tellOwn) == "kernel" {
		if line, err = r.commandLine(); err != nil {
			return Boot{}, r.explain(e.sources.bootParams, err)
		}
	}
	if byIPXE(key) && from == LoaderFromSite && (has == bootNone || !plain(line)) {
		// It cannot load what there is by itself, and starts what firmware starts.
		if loader, from, err = loaderFor(e.Spec, firmwareKey(key), e.bootloaders); err != nil {
			return Boot{}, err
		}
	}
	by := tellerOf(from)
	what := bootRule(has, arguments, by)
	b := Boot{Loader: loader, LoaderFrom: from}
	if from == LoaderFromEnv || from == LoaderFromArch {
		b.Loader = r.root.Path(loader, true)
	}
	switch what {
	case "loader":
		return b, nil
	case "uki":
		b.UKI = r.root.Path(uki, true)
		return b, nil
	case "kernel":
	default:
		return Boot{}, protocol.Errorf(protocol.CodeUnsupported, op, "boot environment %s for %s: %s", e.Bundle.BootEnv, key, strings.TrimPrefix(what, "refused: ")).
			WithHint("give os.supportedArchitectures.%s a kernel and initrds, or a loader", e.Arch)
	}
	b.Kernel = r.root.Path(kernel, true)
	for _, i := range e.initrds(r.root) {
		b.Initrds = append(b.Initrds, r.root.Path(i, true))
	}
	b.CommandLine, b.Origins = line, r.used()
	if by == tellSite && !plain(b.CommandLine) {
		return Boot{}, protocol.Errorf(protocol.CodeUnsupported, op, "the kernel arguments of boot environment %s have a quote, a backslash, ${ or a lone operator, which GRUB and iPXE change", e.Bundle.BootEnv).
			WithHint("leave them out of bootParams, or give the environment a loader and its configuration of its own")
	}
	return b, nil
}

// Files are the files that the boot starts, by what they are; a loader of the site is not
// among them.
func (b Boot) Files() iter.Seq2[string, string] {
	return func(yield func(what, path string) bool) {
		if b.Loader != "" && !yield("loader", b.Loader) || b.UKI != "" && !yield("UKI", b.UKI) || b.Kernel != "" && !yield("kernel", b.Kernel) {
			return
		}
		for _, i := range b.Initrds {
			if !yield("initrd", i) {
				return
			}
		}
	}
}

// kernel is the kernel's path below the root; that of an image where none is named.
func (e *Effective) kernel(root Root) string {
	if e.arch.Kernel != "" || e.arch.UKI != "" {
		return e.arch.Kernel
	}
	return imageFile(root, resource.ArtefactKernel, imageKernel)
}

// initrds are the initrds' paths below the root.
func (e *Effective) initrds(root Root) []string {
	if len(e.arch.Initrds) > 0 || e.arch.Kernel != "" || e.arch.UKI != "" {
		return e.arch.Initrds
	}
	if f := imageFile(root, resource.ArtefactInitramfs, imageInitrd); f != "" {
		return []string{f}
	}
	return nil
}

// uki is the UKI's path below the root.
func (e *Effective) uki(root Root) string {
	if e.arch.UKI != "" || e.arch.Kernel != "" {
		return e.arch.UKI
	}
	return imageFile(root, resource.ArtefactUKI, imageUKI)
}

// imageFile is the name of an artefact of the image that the root is.
func imageFile(root Root, kind resource.ArtefactKind, name string) string {
	if root.Source != resource.EnvFromImage {
		return ""
	}
	if _, ok := root.Image.Artefact(kind); !ok {
		return ""
	}
	return name
}
