package resource

// BootEnv is a boot environment: what a server boots over the network to install or run
// one operating system, described once for every architecture (seed 004, BootEnv).
// Fields are named as in dr-provision, with a small first letter.
type BootEnv struct {
	Header
	Spec   BootEnvSpec   `json:"spec"`
	Status BootEnvStatus `json:"status,omitzero"`
}

// BootEnvSpec is the environment. Paths are relative to the root of the ISO file or of
// the install repository, and begin with no slash.
type BootEnvSpec struct {
	Description   string `json:"description,omitempty"`
	Documentation string `json:"documentation,omitempty"`
	OS            EnvOS  `json:"os"`
	// Templates are rendered for each server and lie at their paths in its file system.
	Templates []EnvTemplate `json:"templates,omitempty"`
	// Loaders are the operating system's own boot loaders, by kind of machine.
	Loaders map[LoaderKey]string `json:"loaders,omitempty"`
	// Kernel, Initrds and BootParams are of amd64, where os.supportedArchitectures has
	// none of its own (seed 004: legacy amd64 specific fields).
	Kernel     string   `json:"kernel,omitempty"`
	Initrds    []string `json:"initrds,omitempty"`
	BootParams string   `json:"bootParams,omitempty"`
	// RequiredParams must have a value, or nothing is rendered.
	RequiredParams []string `json:"requiredParams,omitempty"`
	OptionalParams []string `json:"optionalParams,omitempty"`
	// OnlyUnknown marks an environment for machines in discovery; its templates name no
	// claim.
	OnlyUnknown bool `json:"onlyUnknown,omitempty"`
	// Destructive marks an environment that discards what is on the disks. It boots only
	// by a Maintenance whose caller may wipe.
	Destructive bool `json:"destructive,omitempty"`
}

// EnvOS is the operating system that an environment provides.
type EnvOS struct {
	// Name is FAMILY-VERSION, such as debian-12. It selects package repositories, and is
	// the server's status.os once its boot environment was changed.
	Name     string `json:"name"`
	Family   string `json:"family,omitempty"`
	Codename string `json:"codename,omitempty"`
	Version  string `json:"version,omitempty"`
	// IsoFile, IsoSha256 and IsoURL are of amd64, where SupportedArchitectures has no
	// entry for it.
	IsoFile                string             `json:"isoFile,omitempty"`
	IsoSha256              string             `json:"isoSha256,omitempty"`
	IsoURL                 string             `json:"isoUrl,omitempty"`
	SupportedArchitectures map[string]EnvArch `json:"supportedArchitectures,omitempty"`
}

// EnvArch is what an environment has for one architecture.
type EnvArch struct {
	// IsoFile is the name of an uploaded ISO or other archive with the files to boot.
	IsoFile string `json:"isoFile,omitempty"`
	// Sha256 is of IsoFile, 64 hex digits; empty is not checked against anything but what
	// was uploaded.
	Sha256 string `json:"sha256,omitempty"`
	// IsoURL is where rackctl iso upload --from-bootenv downloads it. No server reads it.
	IsoURL string `json:"isoUrl,omitempty"`
	// Image is an OCI reference in place of IsoFile: its artefacts lie in the root as
	// kernel, initrd, rootfs.squashfs and boot.efi.
	Image      string   `json:"image,omitempty"`
	Kernel     string   `json:"kernel,omitempty"`
	Initrds    []string `json:"initrds,omitempty"`
	BootParams string   `json:"bootParams,omitempty"` // a template
	// UKI is the path of a unified kernel image, in place of Kernel, Initrds and
	// BootParams.
	UKI string `json:"uki,omitempty"`
	// Loader is used where Loaders has none for the kind of machine.
	Loader string `json:"loader,omitempty"`
}

// EnvTemplate is one file that is rendered, or a link to one that exists. Exactly one of
// Contents, ID and Link is given.
type EnvTemplate struct {
	Name string `json:"name"`
	// Path is where the file lies: a template itself.
	Path string `json:"path"`
	// ID names a Template resource; Contents is the template itself; Link, a template, is
	// the path of another file that lies at Path too.
	ID       string            `json:"id,omitempty"`
	Contents string            `json:"contents,omitempty"`
	Link     string            `json:"link,omitempty"`
	Meta     map[string]string `json:"meta,omitempty"`
}

// LoaderKey is a kind of machine: architecture and the way that firmware or a loader
// before this one asks.
type LoaderKey string

// The kinds of machines. The first three are dr-provision's.
const (
	LoaderBIOS        LoaderKey = "386-pcbios" // accepted in a description; legacy BIOS is not booted
	LoaderAMD64       LoaderKey = "amd64-uefi"
	LoaderARM64       LoaderKey = "arm64-uefi"
	LoaderAMD64HTTP   LoaderKey = "amd64-uefi-http" // by UEFI HTTP boot; amd64-uefi if there is none
	LoaderARM64HTTP   LoaderKey = "arm64-uefi-http"
	LoaderAMD64IPXE   LoaderKey = "amd64-ipxe" // what iPXE is told to load
	LoaderARM64IPXE   LoaderKey = "arm64-ipxe"
	LoaderRISCV64     LoaderKey = "riscv64-uefi"
	LoaderRISCV64HTTP LoaderKey = "riscv64-uefi-http"
)

// LoaderKeys lists the kinds of machines.
func LoaderKeys() []LoaderKey {
	return []LoaderKey{LoaderBIOS, LoaderAMD64, LoaderARM64, LoaderAMD64HTTP, LoaderARM64HTTP, LoaderAMD64IPXE, LoaderARM64IPXE, LoaderRISCV64, LoaderRISCV64HTTP}
}

// BootEnvStatus is what the hub found in the description.
type BootEnvStatus struct {
	// Valid says that the description alone has no error; Errors are those that it has.
	Valid  bool     `json:"valid,omitempty"`
	Errors []string `json:"errors,omitempty"`
	// Servers is how many servers it is selected for.
	Servers int `json:"servers,omitempty"`
}

// Default sets kind and version.
func (e *BootEnv) Default() { e.APIVersion, e.Kind = APIVersion, KindBootEnv }
