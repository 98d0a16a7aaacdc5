package image

import (
	"slices"
	"strings"

	"rackboot/protocol"
)

// Require says whether the image can be booted by the method: UefiHttp needs a
// UKI, Pxe a kernel and an initramfs. The invalid error says what is missing and
// what the image has; a method that images do not boot by is unsupported.
func Require(img protocol.Image, method protocol.BootTarget) error {
	const op = "check image"
	var need []protocol.ArtefactKind
	switch method {
	case protocol.TargetUefiHTTP:
		need = []protocol.ArtefactKind{protocol.ArtefactUKI}
	case protocol.TargetPxe:
		need = []protocol.ArtefactKind{protocol.ArtefactKernel, protocol.ArtefactInitramfs}
	default:
		return protocol.Errorf(protocol.CodeUnsupported, op, "no image is booted by %q", method).
			WithHint("use %s or %s", protocol.TargetUefiHTTP, protocol.TargetPxe)
	}
	need = slices.DeleteFunc(need, func(k protocol.ArtefactKind) bool {
		_, ok := img.Artefact(k)
		return ok
	})
	if len(need) == 0 {
		return nil
	}
	var have []protocol.ArtefactKind
	for _, a := range img.Artefacts {
		have = append(have, a.Kind)
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "image %s cannot be booted by %s: it has %s and no %s",
		img.Reference, method, join(have, "nothing"), join(need, "")).
		WithHint("build the image with the missing layer, or choose another first boot method")
}

func join(kinds []protocol.ArtefactKind, none string) string {
	if len(kinds) == 0 {
		return none
	}
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}
