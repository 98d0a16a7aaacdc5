package image

import (
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// lack is what an image has not that a method needs.
type lack string

const (
	lackNothing lack = "nothing"
	lackBoot    lack = "neither uki nor kernel with initramfs"
	lackISO     lack = "no iso"
	lackMethod  lack = "a method"
)

// requireRule says what an image lacks for a boot by a method. The first row that fits
// decides.
//
//	method   | uki | kernel | initramfs | iso | lacks
//	Cd       | *   | *      | *         | yes | nothing
//	Cd       | *   | *      | *         | no  | no iso
//	UefiHttp | yes | *      | *         | *   | nothing
//	UefiHttp | no  | yes    | yes       | *   | nothing
//	UefiHttp | *   | *      | *         | *   | neither uki nor kernel with initramfs
//	Pxe      | yes | *      | *         | *   | nothing
//	Pxe      | no  | yes    | yes       | *   | nothing
//	Pxe      | *   | *      | *         | *   | neither uki nor kernel with initramfs
//	*        | *   | *      | *         | *   | a method
//
// Firmware takes one EFI program by HTTP and by TFTP alike, a UKI or the loader that loads a
// kernel, so that the method does not decide between them.
func requireRule(method protocol.BootTarget, uki, kernel, initramfs, iso bool) lack {
	switch method {
	case protocol.TargetCd:
		if iso {
			return lackNothing
		}
		return lackISO
	case protocol.TargetUefiHTTP, protocol.TargetPxe:
		if uki || kernel && initramfs {
			return lackNothing
		}
		return lackBoot
	case protocol.TargetNone, protocol.TargetHdd, protocol.TargetSetup:
	}
	return lackMethod
}

// Require says whether the image can be booted by the method: by UefiHttp and by Pxe it
// needs a UKI, or a kernel and an initramfs for a chain of loaders, and by virtual media
// an ISO. The invalid error says what the image has; a method that images do not boot by
// is unsupported. Which chain there is, the agent knows.
func Require(img resource.Image, method protocol.BootTarget) error {
	const op = "check image"
	has := func(k resource.ArtefactKind) bool {
		_, ok := img.Artefact(k)
		return ok
	}
	lacks := requireRule(method, has(resource.ArtefactUKI), has(resource.ArtefactKernel), has(resource.ArtefactInitramfs), has(resource.ArtefactISO))
	by := string(method)
	switch lacks {
	case lackNothing:
		return nil
	case lackMethod:
		return protocol.Errorf(protocol.CodeUnsupported, op, "no image is booted by %q", method).
			WithHint("use %s, %s or %s", resource.FirstBootUefiHTTP, resource.FirstBootPxe, resource.FirstBootVirtualMedia)
	case lackISO:
		by = string(resource.FirstBootVirtualMedia)
	case lackBoot:
	}
	var have []resource.ArtefactKind
	for _, a := range img.Artefacts {
		have = append(have, a.Kind)
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "image %s cannot be booted by %s: it has %s, and %s",
		img.Reference, by, join(have, "nothing"), lacks).
		WithHint("build the image with the missing layer, or choose the first boot that it has the layers for")
}

func join(kinds []resource.ArtefactKind, none string) string {
	if len(kinds) == 0 {
		return none
	}
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}
