package chain

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Names of what an image has, in a boot.
const (
	FileUKI       = "boot.efi"
	FileKernel    = "kernel"
	FileInitramfs = "initrd"
	FileSquashfs  = "rootfs.squashfs"
)

// Request is what the choice depends on.
type Request struct {
	Method resource.FirstBoot
	// Any says that firmware may boot by PXE or by HTTP, whichever was ordered: a chain has to fit
	// both.
	Any bool
	// Architecture is the server's: amd64 or arm64.
	Architecture string
	Image        resource.Image
	Loaders      Loaders // of the architecture
	// Prefer is the chain that goes before the others where it is possible; empty is the
	// usual order.
	Prefer protocol.ChainKind
	// TFTP says that the segment has a TFTP server, of IPv4 or of IPv6: which of them
	// firmware asks is not known before it does.
	TFTP bool
	// HTTPS says that boot URLs of the segment are https, of either.
	HTTPS bool
}

// order is the usual order: what needs nothing of the site, then what Secure Boot
// lets pass.
var order = []protocol.ChainKind{protocol.ChainUKI, protocol.ChainGRUB, protocol.ChainIPXE}

// Choose gives the chain that the machine boots through. The error is unsupported,
// and says of each chain why it does not fit; its hint says what to install.
func Choose(r Request) (protocol.BootChain, error) {
	if r.Method == resource.FirstBootVirtualMedia {
		return r.iso()
	}
	kinds := slices.Clone(order)
	if i := slices.Index(kinds, r.Prefer); i > 0 {
		kinds = slices.Insert(slices.Delete(kinds, i, i+1), 0, r.Prefer)
	}
	var whys []string
	hint := verdict("")
	for _, k := range kinds {
		v := r.judge(k)
		if v == fits {
			return r.build(k), nil
		}
		whys = append(whys, fmt.Sprintf("%s: %s", k, v))
		if hint == "" || hint == noPart { // what a loader lacks says more than what the image does
			hint = v
		}
	}
	err := protocol.Errorf(protocol.CodeUnsupported, "choose boot chain", "no chain fits %s of image %s on %s: %s",
		r.words(), r.Image.Digest, r.Architecture, strings.Join(whys, "; "))
	return protocol.BootChain{}, err.WithHint("%s", hint.hint(r.Architecture))
}

// verdict is why a chain is not possible; empty is that it is.
type verdict string

const (
	fits     verdict = ""
	noMethod verdict = "not a network boot method"
	noTFTP   verdict = "the segment has no TFTP server"
	noPart   verdict = "the image does not have what it needs"
	noLoader verdict = "a loader of it is not there"
	noHTTP   verdict = "its loader cannot load by UEFI HTTP boot"
	noTLS    verdict = "its loader does not trust the certificate of https boot URLs"
	noLine   verdict = "its loader would change the image's kernel command line"
)

// hint is what to do about it.
func (v verdict) hint(cpu string) string {
	switch v {
	case noMethod:
		return "use UefiHttp or Pxe as first boot"
	case noTFTP:
		return "give the segment a tftp address in the agent's file, or boot by UefiHttp"
	case noPart:
		return "build the image with a UKI, or with a kernel and an initramfs"
	case noHTTP:
		return "install a GRUB that can, as Debian 13's grub-efi-" + cpu + "-signed, or boot by Pxe"
	case noTLS:
		return "install shim and GRUB, or use an image with a UKI"
	case noLine:
		return "build the image without quotes, backslashes, ${ and shell operators in its command line, or with a UKI"
	case fits, noLoader:
	}
	return "install shim and a GRUB for the network, or iPXE, and name their folders under loaders." + cpu + " in the agent's file"
}

// loading is what a chain's loaders can do.
type loading string

const (
	loadsNone  loading = "none"  // one is not there
	loadsTFTP  loading = "tftp"  // complete, but not when started by HTTP boot
	loadsPlain loading = "plain" // complete, but not from the https URLs of the segment
	loadsAll   loading = "all"   // complete
)

// part is what the image has of what a chain needs.
type part string

const (
	partYes    part = "yes"
	partNo     part = "no"
	partQuoted part = "quoted" // all, with a command line that loaders do not hand on as it is
)

// way is how firmware loads the first file.
type way string

const (
	wayHTTP  way = "http" // or https
	wayTFTP  way = "tftp"
	wayDark  way = "no-tftp" // PXE where no TFTP server is
	wayOther way = "other"
)

// ways are those by which firmware may load the first file, the one that is ordered first.
func (r Request) ways() []way {
	out := []way{r.wayOf(r.Method)}
	if r.Any && out[0] != wayOther {
		for _, m := range []resource.FirstBoot{resource.FirstBootPxe, resource.FirstBootUefiHTTP} {
			if m != r.Method {
				out = append(out, r.wayOf(m))
			}
		}
	}
	return out
}

func (r Request) wayOf(m resource.FirstBoot) way {
	switch {
	case m == resource.FirstBootPxe && r.TFTP:
		return wayTFTP
	case m == resource.FirstBootPxe:
		return wayDark
	case m != resource.FirstBootUefiHTTP:
		return wayOther
	}
	return wayHTTP
}

// fitsAll says whether a chain is possible by all ways; of those by which it is not, the first counts.
func (r Request) fitsAll(kind protocol.ChainKind, has part, l loading) verdict {
	for _, by := range r.ways() {
		if v := chainRule(kind, by, has, l); v != fits {
			return v
		}
	}
	return fits
}

// words are the methods for people.
func (r Request) words() string {
	if r.Any {
		return "Pxe and UefiHttp (network any)"
	}
	return string(r.Method)
}

// judge says whether a chain is possible.
func (r Request) judge(kind protocol.ChainKind) verdict {
	all := func(kinds ...resource.ArtefactKind) bool {
		return !slices.ContainsFunc(kinds, func(k resource.ArtefactKind) bool {
			_, ok := r.Image.Artefact(k)
			return !ok
		})
	}
	has := partNo
	switch {
	case kind == protocol.ChainUKI && all(resource.ArtefactUKI):
		has = partYes
	case kind == protocol.ChainUKI || !all(resource.ArtefactKernel, resource.ArtefactInitramfs):
	case !plain(r.Image.CommandLine):
		has = partQuoted
	default:
		has = partYes
	}
	return r.fitsAll(kind, has, r.loads(kind))
}

// loads is what the site's loaders of a chain can do.
func (r Request) loads(kind protocol.ChainKind) loading {
	switch kind {
	case protocol.ChainGRUB:
		// Whether Secure Boot is on is not to be seen before the boot, so that GRUB never
		// goes without shim.
		grub := r.Loaders[RoleGRUB]
		switch {
		case grub.Digest == "" || r.Loaders[RoleShim].Digest == "":
			return loadsNone
		case !grub.HTTP:
			return loadsTFTP
		}
		return loadsAll
	case protocol.ChainIPXE:
		switch {
		case r.Loaders[RoleIPXE].Digest == "":
		case r.HTTPS:
			return loadsPlain
		default:
			return loadsAll
		}
	case protocol.ChainUKI, protocol.ChainSystemdBoot, protocol.ChainISO, protocol.ChainBootEnv:
	}
	return loadsNone
}

// chainRule says whether a chain is possible. The first row that fits decides.
//
//	chain | way     | part   | loads | answer
//	*     | other   | *      | *     | not a network boot method
//	*     | no-tftp | *      | *     | the segment has no TFTP server
//	*     | *       | no     | *     | the image does not have what it needs
//	uki   | *       | *      | *     | fits
//	*     | *       | quoted | *     | its loader would change the image's kernel command line
//	*     | *       | yes    | none  | a loader of it is not there
//	grub  | http    | yes    | tftp  | its loader cannot load by UEFI HTTP boot
//	*     | *       | yes    | plain | its loader does not trust the certificate of https boot URLs
//	*     | *       | yes    | *     | fits
//
// iPXE knows no authority but those that it was built with, and takes none from the
// firmware's store: also where it came by TFTP, it loads the rest from boot URLs.
func chainRule(kind protocol.ChainKind, by way, has part, l loading) verdict {
	switch {
	case by == wayOther:
		return noMethod
	case by == wayDark:
		return noTFTP
	case has == partNo:
		return noPart
	case kind == protocol.ChainUKI:
		return fits
	case has == partQuoted:
		return noLine
	case l == loadsNone:
		return noLoader
	case kind == protocol.ChainGRUB && by == wayHTTP && l == loadsTFTP:
		return noHTTP
	case l == loadsPlain:
		return noTLS
	}
	return fits
}

// build lists the files of a chain that is possible.
func (r Request) build(kind protocol.ChainKind) protocol.BootChain {
	c := protocol.BootChain{Kind: kind}
	artefact := func(name string, k resource.ArtefactKind) {
		if a, ok := r.Image.Artefact(k); ok {
			c.Files = append(c.Files, protocol.ChainFile{Name: name, Digest: a.Digest})
		}
	}
	loader := func(role Role) (name string, ok bool) {
		name = served(r.Architecture, role)
		l := r.Loaders[role]
		if l.Digest != "" {
			c.Files = append(c.Files, protocol.ChainFile{Name: name, Digest: l.Digest})
		}
		return name, l.Digest != ""
	}
	switch kind {
	case protocol.ChainGRUB:
		c.First, _ = loader(RoleShim)
		loader(RoleGRUB)
	case protocol.ChainIPXE:
		var shim bool
		if c.First, shim = loader(RoleIPXEShim); shim {
			loader(RoleIPXE)
		} else {
			c.First, _ = loader(RoleIPXE)
		}
	case protocol.ChainUKI, protocol.ChainSystemdBoot, protocol.ChainISO, protocol.ChainBootEnv:
		artefact(FileUKI, resource.ArtefactUKI)
		artefact(FileSquashfs, resource.ArtefactSquashfs)
		c.First, c.Last = FileUKI, FileUKI
		return c
	}
	artefact(FileKernel, resource.ArtefactKernel)
	artefact(FileInitramfs, resource.ArtefactInitramfs)
	artefact(FileSquashfs, resource.ArtefactSquashfs)
	c.Last, c.CommandLine = FileInitramfs, r.Image.CommandLine
	return c
}

// iso is the boot by virtual media, which needs no loaders: firmware finds one in the image.
func (r Request) iso() (protocol.BootChain, error) {
	a, ok := r.Image.Artefact(resource.ArtefactISO)
	if !ok {
		return protocol.BootChain{}, protocol.Errorf(protocol.CodeUnsupported, "choose boot chain", "image %s has no ISO for %s", r.Image.Digest, r.Method).
			WithHint("build the image with an ISO, or boot by UefiHttp or Pxe")
	}
	return protocol.BootChain{
		Kind: protocol.ChainISO, First: protocol.FileISO, Last: protocol.FileISO, CommandLine: r.Image.CommandLine,
		Files: []protocol.ChainFile{{Name: protocol.FileISO, Digest: a.Digest}},
	}, nil
}

// HTTPS says whether boot URLs of the segment are https, for IPv4 or for IPv6.
func HTTPS(seg resource.SegmentIntent) bool {
	bases := []string{seg.BaseURL} // the default is http
	if seg.IPv6 != nil {
		bases = append(bases, seg.IPv6.BaseURL)
	}
	return slices.ContainsFunc(bases, func(base string) bool {
		u, err := url.Parse(base)
		return err == nil && u.Scheme == "https"
	})
}
