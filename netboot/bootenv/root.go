package bootenv

import (
	"path"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Paths of a server's file system.
const (
	isosPath     = "mounts/isos/"
	machinesPath = "machines/"
	bootName     = "boot"
	installName  = "install"
)

// Names of an image's artefacts below the root of an environment that is one.
const (
	imageKernel = "kernel"
	imageInitrd = "initrd"
	imageUKI    = "boot.efi"
)

// Root says where the files of an environment come from.
type Root struct {
	Source resource.EnvSource `json:"source"`
	// At is where they lie in the server's file system: machines/UUID/boot. It is set for
	// none too.
	At string `json:"at"`
	// ISO is the uploaded file that At links to, at mounts/isos/FILE.
	ISO resource.EnvISO `json:"iso,omitzero"`
	// Image is the resolved image whose artefacts lie at At.
	Image resource.Image `json:"image,omitzero"`
	// Proxies are the remote trees that are passed on, that of At first. There are two
	// where the package repository is not where its boot files are.
	Proxies []Proxy `json:"proxies,omitempty"`
	// Repository is the source and place of the repository's entry, for people.
	Repository string `json:"repository,omitempty"`
	// flat says that files lie at At by their last name (bootloc).
	flat bool
}

// Proxy is a remote tree in a server's file system.
type Proxy struct {
	At  string `json:"at"`
	URL string `json:"url"`
}

// local is what is there of what the environment names.
type local string

const (
	localNone  local = "none"  // it names nothing
	localThere local = "there" // what it names is there, and is what was described
	localOther local = "other" // a file of that name is there, with another content
	localGone  local = "gone"  // what it names is not there
)

// yesno is a column of a table.
type yesno string

const (
	yes yesno = "yes"
	no  yesno = "no"
)

func is(b bool) yesno {
	if b {
		return yes
	}
	return no
}

// rootRule says where the files come from (seed 004, Changing a BootEnv for a Machine). The
// first row that fits decides.
//
//	iso   | image | repository | needed | answer
//	there | *     | *          | *      | iso
//	other | *     | *          | *      | refused: another file of that name was uploaded
//	*     | there | *          | *      | image
//	*     | *     | yes        | *      | proxy
//	gone  | *     | no         | *      | refused: neither the file nor an install repository is there
//	*     | gone  | no         | *      | refused: neither the image nor an install repository is there
//	none  | none  | no         | yes    | refused: it names no file, and no install repository is there
//	none  | none  | no         | no     | none
//
// needed is that the environment names a kernel, initrds or a UKI.
func rootRule(iso, image local, repository, needed yesno) string {
	switch {
	case iso == localThere:
		return string(resource.EnvFromISO)
	case iso == localOther:
		return "refused: another file of that name was uploaded"
	case image == localThere:
		return string(resource.EnvFromImage)
	case repository == yes:
		return string(resource.EnvFromProxy)
	case iso == localGone:
		return "refused: neither the file nor an install repository is there"
	case image == localGone:
		return "refused: neither the image nor an install repository is there"
	case needed == yes:
		return "refused: it names no file, and no install repository is there"
	}
	return string(resource.EnvFromNone)
}

// Root says where the files come from, or refuses: a refusal is an unavailable error, which
// an upload or a repository mends. The files are there as far as the bundle says.
func (e *Effective) Root() (Root, error) {
	root := Root{At: e.machinePath() + "/" + bootName}
	a := e.arch
	iso := localNone
	if a.IsoFile != "" {
		iso = localGone
		if i := slices.IndexFunc(e.Bundle.ISOs, func(f resource.EnvISO) bool { return f.File == a.IsoFile }); i >= 0 {
			root.ISO, iso = e.Bundle.ISOs[i], localThere
			if a.Sha256 != "" && !strings.EqualFold(root.ISO.Sum(), "sha256:"+a.Sha256) {
				iso = localOther
			}
		}
	}
	image := localNone
	if a.Image != "" {
		image = localGone
		if i := slices.IndexFunc(e.Bundle.Images, func(i resource.Image) bool {
			return i.Reference == a.Image && (i.Architecture == "" || i.Architecture == e.Arch)
		}); i >= 0 {
			root.Image, image = e.Bundle.Images[i], localThere
		}
	}
	repo, found := e.installSource()
	needed := a.Kernel != "" || len(a.Initrds) > 0 || a.UKI != ""
	answer := rootRule(iso, image, is(found), is(needed))
	if why, refused := strings.CutPrefix(answer, "refused: "); refused {
		return Root{}, e.refuseRoot(why, iso == localOther)
	}
	root.Source = resource.EnvSource(answer)
	if root.Source != resource.EnvFromISO {
		root.ISO = resource.EnvISO{}
	}
	if root.Source != resource.EnvFromImage {
		root.Image = resource.Image{}
	}
	if root.Source == resource.EnvFromProxy {
		root.Repository = repo.from
		root.Proxies = []Proxy{{root.At, slash(repo.URL)}}
		if repo.Bootloc != "" && slash(repo.Bootloc) != slash(repo.URL) {
			root.flat = true
			root.Proxies = []Proxy{{root.At, slash(repo.Bootloc)}, {e.machinePath() + "/" + installName, slash(repo.URL)}}
		}
	}
	return root, nil
}

func (e *Effective) refuseRoot(why string, other bool) error {
	err := protocol.Errorf(protocol.CodeUnavailable, "choose root of boot environment", "%s of boot environment %s for %s (%s): %s",
		first(e.arch.IsoFile, e.arch.Image, e.Spec.OS.Name), e.Bundle.BootEnv, e.Arch, first(e.Spec.OS.Name, "no operating system"), why)
	if other {
		return err.WithHint("upload the file whose SHA-256 the environment gives, or change sha256")
	}
	return err.WithHint("run rackctl iso upload FILE, or give package-repositories an installSource with os [%s] and arch %s", e.Spec.OS.Name, e.Arch)
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func slash(u string) string { return strings.TrimRight(u, "/") + "/" }

// machinePath is where a server's own files lie.
func (e *Effective) machinePath() string { return machinesPath + e.uuid() }

func (e *Effective) uuid() string { return first(e.Bundle.Machine.UUID, e.Bundle.Machine.UID) }

// Path is where a file of the environment's root lies in the server's file system. Boot
// files of a repository with bootloc lie there by their last name (facts: package-repositories).
func (r Root) Path(file string, bootFile bool) string {
	if r.flat && bootFile {
		file = path.Base(file)
	}
	return r.At + "/" + file
}
