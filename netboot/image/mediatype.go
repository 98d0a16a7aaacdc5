package image

import (
	"strings"

	"rackboot/protocol/resource"
)

// Media types of the next generation of ironcore-image: what an artefact is as a whole,
// as artifactType of its manifest or, in the older way of OCI, as the type of its
// configuration.
const (
	artifactDirect = "application/vnd.ironcore.direct.v1+json" // kernel and initrd
	artifactEFI    = "application/vnd.ironcore.efi.v1+json"
	artifactDisk   = "application/vnd.ironcore.disk.v1+json"

	typeConfigDirect = "application/vnd.ironcore.direct.config.v1+json"
	typeConfigEFI    = "application/vnd.ironcore.efi.config.v1+json"
	typeConfigDisk   = "application/vnd.ironcore.disk.config.v1+json"

	// typeISO is of images that are made for Rackboot.
	typeISO = "application/vnd.rackboot.image.iso"

	// typeInitrd may have a suffix for its compression, as +gzip.
	typeInitrd = "application/vnd.ironcore.initrd.cpio.v1"
)

// kindOf maps the media type of a layer to what it is for; empty for a layer that
// is none of our business. There is no type for a UKI in the older forms.
func kindOf(mediaType string) resource.ArtefactKind {
	switch mediaType {
	case "application/vnd.ironcore.image.uki",
		"application/vnd.ironcore.efi-executable.v1":
		return resource.ArtefactUKI
	case "application/vnd.ironcore.image.kernel",
		"application/io.gardenlinux.kernel",
		"application/vnd.ironcore.image.vmlinuz.v1alpha1.vmlinuz",
		"application/vnd.ironcore.kernel.v1":
		return resource.ArtefactKernel
	case "application/vnd.ironcore.image.initramfs",
		"application/io.gardenlinux.initrd",
		"application/vnd.ironcore.image.initramfs.v1alpha1.initramfs",
		typeInitrd:
		return resource.ArtefactInitramfs
	case "application/vnd.ironcore.image.squashfs",
		"application/io.gardenlinux.squashfs",
		"application/vnd.ironcore.image.squashfs.v1alpha1.squashfs":
		return resource.ArtefactSquashfs
	case typeISO,
		"application/vnd.ironcore.image.iso",
		"application/x-iso9660-image", // as file and shared-mime-info name it, and oras users push it
		"application/vnd.efi-iso",     // of UEFI HTTP boot (IANA media types)
		"application/x-cd-image":
		return resource.ArtefactISO
	}
	if strings.HasPrefix(mediaType, typeInitrd+"+") {
		return resource.ArtefactInitramfs
	}
	return ""
}

// diskOnly says whether what claims to be of this type can only be written to a disk.
func diskOnly(artifactType string) bool {
	return artifactType == artifactDisk || artifactType == typeConfigDisk
}

// configKey is the field of a configuration that has the kernel's command line; empty
// for a configuration that has none. That of an EFI executable is in itself.
func configKey(mediaType string) string {
	switch mediaType {
	case typeConfig, typeConfigV1Alpha1:
		return "commandLine"
	case typeConfigDirect:
		return "cmdline"
	}
	return ""
}
