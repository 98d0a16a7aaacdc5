package resource

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"rackboot/protocol"
)

// ArtefactKind is what one layer of a boot image is for. The wire value is the
// string itself; a layer of another kind is not an artefact.
type ArtefactKind string

// The kinds of artefacts.
const (
	ArtefactUKI       ArtefactKind = "uki"       // unified kernel image: one EFI executable
	ArtefactKernel    ArtefactKind = "kernel"    // Linux kernel
	ArtefactInitramfs ArtefactKind = "initramfs" // initial RAM file system
	ArtefactSquashfs  ArtefactKind = "squashfs"  // root file system that the initramfs fetches
	ArtefactISO       ArtefactKind = "iso"       // ISO 9660 image that firmware boots from a CD drive
)

// ArtefactKinds lists all kinds of artefacts.
func ArtefactKinds() []ArtefactKind {
	return []ArtefactKind{ArtefactUKI, ArtefactKernel, ArtefactInitramfs, ArtefactSquashfs, ArtefactISO}
}

// Artefact is one file of a boot image.
type Artefact struct {
	Kind      ArtefactKind `json:"kind"`
	Digest    string       `json:"digest"`    // "sha256:" and 64 hex digits
	Size      int64        `json:"size"`      // bytes
	MediaType string       `json:"mediaType"` // as the manifest says it
}

// Image is a boot image resolved to a digest: what a reference meant for one
// architecture at the moment of resolution. It never changes afterwards.
type Image struct {
	Reference    string     `json:"reference"`    // as given: tag or digest
	Digest       string     `json:"digest"`       // of the manifest that holds the artefacts
	Architecture string     `json:"architecture"` // GOARCH words: amd64, arm64
	Artefacts    []Artefact `json:"artefacts"`
	// CommandLine is the kernel command line that the image was built with; a UKI has its
	// own and does not use it. At most [MaxCommandLine] printable ASCII characters.
	CommandLine string `json:"commandLine,omitempty"`
	// BootImage names the entry of the catalogue that it is of; empty for another image.
	BootImage string `json:"bootImage,omitempty"`
	// Source is where agents get the artefacts.
	Source ImageSource `json:"source,omitempty"`
}

// ImageSource is where agents get the artefacts of an image. The wire value is the string
// itself.
type ImageSource string

// The sources of artefacts.
const (
	ImageFromRegistry ImageSource = ""    // the registry of the reference
	ImageFromHub      ImageSource = "hub" // the hub, which has verified them; needs message.CapBootFiles
)

// Is says whether the image is what a reference of a claim names.
func (i Image) Is(reference string) bool {
	name := BootImageName(reference)
	return i.Reference == reference || name != "" && i.BootImage == name
}

// Artefact returns the artefact of the kind; ok is false if the image has none.
func (i Image) Artefact(kind ArtefactKind) (a Artefact, ok bool) {
	for _, a := range i.Artefacts {
		if a.Kind == kind {
			return a, true
		}
	}
	return Artefact{}, false
}

// MaxCommandLine bounds the command line of an image, in bytes. Linux takes 2048 on
// amd64 and arm64 (COMMAND_LINE_SIZE), of which loaders and the agent use some.
const MaxCommandLine = 1536

// CheckCommandLine says whether a kernel's command line is one: printable ASCII, and
// not too long. The error is invalid.
func CheckCommandLine(line string) error {
	const op = "check kernel command line"
	for i := range len(line) {
		if c := line[i]; c < 0x20 || c > 0x7e {
			return protocol.Errorf(protocol.CodeInvalid, op, "byte %d is %#02x, which is not printable ASCII", i, c).
				WithHint("build the image with a command line of one line of ASCII")
		}
	}
	if len(line) > MaxCommandLine {
		return protocol.Errorf(protocol.CodeInvalid, op, "it has %d bytes, and may have %d", len(line), MaxCommandLine).
			WithHint("shorten it: the kernel cuts off what is longer than it reads")
	}
	return nil
}

// EnvImagePrefix begins the reference of the image that stands for a boot environment in
// a BootConfiguration.
const EnvImagePrefix = "bootenv:"

// BootEnv is the boot environment that an image stands for; empty for an image that is
// one.
func (i Image) BootEnv() string {
	name, is := strings.CutPrefix(i.Reference, EnvImagePrefix)
	if !is {
		return ""
	}
	return name
}

// EnvImage stands for a boot environment where an image is named: in a configuration, its
// grant and the record that it is installed. Its digest is that of the environment's
// identity and not of its content, which may change until it is booted.
func EnvImage(name, uid, architecture string) Image {
	return Image{
		Reference: EnvImagePrefix + name, Architecture: architecture,
		Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(EnvImagePrefix+name+"\n"+uid+"\n"+architecture))),
	}
}
