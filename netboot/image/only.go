package image

import (
	"context"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// find is the manifest for an architecture, and which that is: with an empty one, that of an index
// that has one of those that can be booted.
func (r *registry) find(ctx context.Context, op, identifier, arch string) (digest string, doc document, found string, err error) {
	if arch != "" {
		w := walk{ctx: ctx, op: op, reg: r, arch: arch}
		digest, doc, err = w.visit(identifier, 1)
		return digest, doc, arch, err
	}
	var nothing error
	for _, arch := range resource.BootArchitectures() {
		w := walk{ctx: ctx, op: op, reg: r, arch: arch}
		d, one, err := w.visit(identifier, 1)
		switch {
		case err == nil && !w.index:
			return d, one, "", nil
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			nothing = err
		case err != nil:
			return "", document{}, "", err
		case found != "":
			return "", document{}, "", severalArchitectures(op)
		default:
			digest, doc, found = d, one, arch
		}
	}
	if found == "" {
		return "", document{}, "", nothing
	}
	return digest, doc, found, nil
}

// severalArchitectures is the error of an image that is for several where none was asked for.
func severalArchitectures(op string) error {
	return protocol.Errorf(protocol.CodeConflict, op, "the image is for %s, and the server's architecture is not known", strings.Join(resource.BootArchitectures(), " and ")).
		WithHint("set spec.architecture of the Server")
}

// Only is a resolved image with the architecture that its files are for, where neither whoever asked
// nor an index has said it: what can be booted says so in its headers. A medium that boots several is
// conflict; the other errors are those of Inspect.
func Only(ctx context.Context, img resource.Image, opts Options) (resource.Image, error) {
	var fits []string
	var why error
	for _, arch := range resource.BootArchitectures() {
		one := img
		one.Architecture = arch
		switch err := Inspect(ctx, one, opts); {
		case err == nil:
			fits = append(fits, arch)
		case protocol.CodeOf(err) != protocol.CodeInvalid:
			return resource.Image{}, err
		default:
			why = err
		}
	}
	switch len(fits) {
	case 0:
		return resource.Image{}, why
	case 1:
		img.Architecture = fits[0]
		return img, nil
	}
	return resource.Image{}, severalArchitectures("resolve image")
}
