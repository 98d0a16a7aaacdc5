package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/coreos/stream-metadata-go/arch"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// MaxMetadata bounds a document of metadata, in bytes. The stream of Fedora CoreOS has
// 60 KiB, its release index 200 KiB.
const MaxMetadata = 8 << 20

// Format is a set of files of one image.
type Format string

// The formats that servers boot; raw disks and clouds are left out.
const (
	FormatPXE Format = "pxe" // kernel, initramfs and root file system
	FormatISO Format = "iso"
)

// formats lists the formats.
func formats() []Format { return []Format{FormatPXE, FormatISO} }

// LiveCommandLine is that of CoreOS's live system (fedora-coreos-docs, live booting via
// PXE): it reads Ignition's configuration, and fetches its root file system. The agent
// puts the URL of the boot in the place of @rackboot.url@.
const LiveCommandLine = "ignition.firstboot ignition.platform.id=metal coreos.live.rootfs_url=@rackboot.url@rootfs.squashfs"

// ImportOptions say what the metadata does not.
type ImportOptions struct {
	// Catalogue is the line of images that the entries are of. URL is where the metadata
	// came from, without credentials; empty for a file.
	Catalogue, URL string
	// Architectures are GOARCH words; empty is all that there are. One that is named and
	// not there is an error.
	Architectures []string
	// MaxIgnition is the highest specification that the image reads; empty is an image
	// without Ignition.
	MaxIgnition string
	// formats are what is taken of the files; empty is all. CommandLine is the kernel's,
	// which goes with [FormatPXE].
	Formats     []Format
	CommandLine string
	// Version and Repository are for OCI indexes: the entry's version, and the registry and
	// repository that the index is of.
	Version, Repository string
	// Signature is the one that is wanted of each image of an OCI index; nil is none.
	Signature *resource.ImageSignature
}

func (o ImportOptions) formats() []Format {
	if len(o.Formats) == 0 {
		return formats()
	}
	return o.Formats
}

// check says what is wrong with the options. The code is invalid.
func (o ImportOptions) check(op string, raw []byte) error {
	switch {
	case len(raw) > MaxMetadata:
		return protocol.Errorf(protocol.CodeInvalid, op, "it has more than %d bytes", MaxMetadata).WithHint("is it the right file? metadata of one stream has some hundred KiB")
	case o.Catalogue == "":
		return protocol.Errorf(protocol.CodeInvalid, op, "no catalogue is named").WithHint("name the line of images, such as fedora-coreos-stable")
	}
	for _, a := range o.Architectures {
		if !slices.Contains(resource.BootArchitectures(), a) {
			return protocol.Errorf(protocol.CodeInvalid, op, "architecture %.80q is none of %s", a, strings.Join(resource.BootArchitectures(), ", ")).
				WithHint("x86_64 is amd64, and aarch64 is arm64")
		}
	}
	for _, f := range o.Formats {
		if !slices.Contains(formats(), f) {
			return protocol.Errorf(protocol.CodeInvalid, op, "format %.80q is none of pxe and iso", f)
		}
	}
	return nil
}

// wanted says whether an architecture is taken. What is no architecture of servers here,
// such as s390x, is not.
func (o ImportOptions) wanted(goarch string) bool {
	return slices.Contains(resource.BootArchitectures(), goarch) && (len(o.Architectures) == 0 || slices.Contains(o.Architectures, goarch))
}

// goArch is the word for an architecture of RPM: x86_64 is amd64, and aarch64 arm64.
func goArch(rpm string) string { return arch.GoArch(rpm) }

// maxName bounds the name of a resource in bytes.
const maxName = 63

// name is the name of an entry: the catalogue's and the version's, of which everything
// but letters and digits becomes a dash. Where that is too long, the beginning of the
// version's digest takes the place of its end.
func name(catalogue, version string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(version) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	name := catalogue + "-" + strings.TrimRight(b.String(), "-")
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(version))
	end := hex.EncodeToString(sum[:4])
	return strings.TrimRight(name[:maxName-len(end)-1], "-") + "-" + end
}

// entry makes one entry, and checks it as the hub will. The code is invalid.
func (o ImportOptions) entry(op string, kind resource.BootImageSourceKind, version, digest string, archs map[string]resource.BootImageArch) (*resource.BootImage, error) {
	b := &resource.BootImage{Spec: resource.BootImageSpec{
		Catalogue: o.Catalogue, Version: version, MaxIgnition: o.MaxIgnition, Architectures: archs,
		Source: &resource.BootImageSource{Kind: kind, URL: o.URL, Digest: digest},
	}}
	b.Metadata.Name = name(o.Catalogue, version)
	b.Default()
	if wrong := b.Validate(); len(wrong) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "version %.80q: %w", version, wrong).WithHint("the metadata is not what it should be, or an option is wrong; see the field")
	}
	return b, nil
}

// lacking says which architecture was asked for and is not there.
func (o ImportOptions) lacking(op string, have func(goarch string) bool) error {
	for _, a := range o.Architectures {
		if !have(a) {
			return protocol.Errorf(protocol.CodeNotFound, op, "there is nothing for %s that servers boot", a).WithHint("leave --arch out to take what there is")
		}
	}
	return nil
}
