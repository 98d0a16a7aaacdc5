package protocol

import "slices"

// ChainKind is the way from firmware to an operating system.
type ChainKind string

// The kinds of chains.
const (
	ChainUKI         ChainKind = "uki"          // firmware starts the unified kernel image itself
	ChainGRUB        ChainKind = "grub"         // shim, GRUB, kernel
	ChainIPXE        ChainKind = "ipxe"         // iPXE, kernel; behind a shim of its own where there is one
	ChainSystemdBoot ChainKind = "systemd-boot" // systemd-boot; no release offers it yet
	// ChainBootEnv is the boot loader of a boot environment's operating system.
	ChainBootEnv ChainKind = "bootenv"
	// ChainISO is no network boot: the BMC inserts an ISO image, and firmware boots the drive.
	ChainISO ChainKind = "iso"
)

// ChainKinds lists the kinds of chains by which machines boot from the network.
func ChainKinds() []ChainKind {
	return []ChainKind{ChainUKI, ChainGRUB, ChainIPXE, ChainSystemdBoot}
}

// FileISO is the image's name in a boot by virtual media, and FileConfigISO that of the
// image beside it, which tells the booted system about its boot: its label is
// ConfigLabel, and its files are those named ConfigURL, ConfigArguments and, where it may
// have it, ConfigIgnition. BMCs want names that end in .iso.
const (
	FileISO       = "boot.iso"
	FileConfigISO = "config.iso"

	ConfigLabel     = "RACKBOOT"
	ConfigURL       = "report-url"    // the URL that a report is sent below, and a line end
	ConfigArguments = "kernel-args"   // the kernel arguments that a network boot has, on one line
	ConfigIgnition  = "ignition.json" // the server's user data
)

// IPXEScript is the name of the script that iPXE loads by itself, and is given as
// its boot file when it asks by DHCP.
const IPXEScript = "autoexec.ipxe"

// BootChain is all that one machine may fetch in one boot. It is chosen before the
// boot is armed, is on disk with the attempt, and does not change under it.
type BootChain struct {
	Kind ChainKind `json:"kind"`
	// First is the file that firmware is told of.
	First string `json:"first"`
	// IPXE is the file that iPXE is told of, if not First or the script.
	IPXE string `json:"ipxe,omitempty"`
	// Last is the file that comes last: once it is sent, the operating system may run.
	Last string `json:"last"`
	// Files are the digests of the files by their names, each complete and local.
	// What is rendered, as a loader's configuration, is not among them.
	Files []ChainFile `json:"files"`
	// CommandLine is the image's kernel command line; empty for a UKI, which has its own.
	CommandLine string `json:"commandLine,omitempty"`
	// View is the generation of the boot environment whose files may be fetched besides
	// Files; empty is none.
	View string `json:"view,omitempty"`
	// Ignition says that the kernel is told where its user data is.
	Ignition bool `json:"ignition,omitempty"`
}

// ChainFile is one file of a chain.
type ChainFile struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Digest is that of the file with a name.
func (c BootChain) Digest(name string) (digest string, ok bool) {
	i := slices.IndexFunc(c.Files, func(f ChainFile) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return c.Files[i].Digest, true
}

// Unified is the digest of the unified kernel image that firmware itself starts; ok says that there is one, and which is
// known. A file of a boot environment is not known by its digest.
func (c BootChain) Unified() (digest string, ok bool) {
	if c.Kind != ChainUKI {
		return "", false
	}
	return c.Digest(c.First)
}

// scripted says whether the machine boots by a script or configuration that is
// rendered for it.
func (c BootChain) scripted() bool { return c.Kind == ChainGRUB || c.Kind == ChainIPXE }

// FileFor is the file that a client of the class is told of. iPXE, in the ROM of an interface or loaded by the chain, takes the script: it would start
// a loader that starts it again. What a boot environment has for it goes before.
func (c BootChain) FileFor(class ClientClass) string {
	switch {
	case class == ClassIPXE && c.IPXE != "":
		return c.IPXE
	case class == ClassIPXE && c.scripted():
		return IPXEScript
	}
	return c.First
}

// Begins says whether a file is what firmware or iPXE is told of.
func (c BootChain) Begins(name string) bool {
	return name == c.First || name == c.FileFor(ClassIPXE)
}

// IsLast says whether the operating system may run once the file is sent. Where firmware is
// told of nothing but a loader, that is the one of iPXE too.
func (c BootChain) IsLast(name string) bool {
	return name == c.Last || name == c.IPXE && c.IPXE != "" && c.Last == c.First
}

// FileIgnition is the name of a server's user data below the token of its boot.
const FileIgnition = "ignition"

// FileDiscard is the name of the file below the token of a boot by which rackboot-probe is
// told that it may discard the server's disks.
const FileDiscard = "discard"
