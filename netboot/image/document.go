package image

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/name"

	"rackboot/netboot/iso"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Manifest reads the index or manifest that a reference means now, byte for byte, with the
// reference's registry and repository, and its tag; that is empty for a digest. The errors
// are those of [Resolve].
func Manifest(ctx context.Context, ref string, opts Options) (raw []byte, repository, tag string, err error) {
	const op = "read manifest"
	parsed, err := parseReference(op, ref)
	if err != nil {
		return nil, "", "", err
	}
	reg, err := opts.open(ctx, op, parsed)
	if err != nil {
		return nil, "", "", err
	}
	defer reg.close()
	got, err := reg.manifest(ctx, op, parsed.Identifier())
	if err != nil {
		return nil, "", "", err
	}
	if t, ok := parsed.(name.Tag); ok {
		tag = t.TagStr()
	}
	if int64(len(got.Manifest)) != got.Size {
		return nil, "", "", protocol.Errorf(protocol.CodeInvalid, op, "%s has %d bytes, and its registry says %d", ref, len(got.Manifest), got.Size)
	}
	return got.Manifest, parsed.Context().Name(), tag, nil
}

// InspectFile says whether a file that is here is what its kind says, and for the
// architecture, as [Inspect] does of a registry's. A root file system may also be a cpio
// archive: CoreOS's is one, which its initramfs unpacks into itself. The code is invalid.
func InspectFile(a resource.Artefact, file io.ReaderAt, arch string) error {
	const op = "inspect file"
	var why error
	if a.Kind == resource.ArtefactISO {
		why = iso.Check(file, arch)
	} else {
		head := make([]byte, min(a.Size, headSize))
		if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
			return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		if a.Kind == resource.ArtefactSquashfs && checkInitramfs(head) == nil {
			return nil
		}
		if why = inspect(a, head, arch); why != nil {
			why = fmt.Errorf("it %w", why)
		}
	}
	if why != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "the %s (%s) cannot be booted: %w", a.Kind, a.Digest, why).
			WithHint("name the right file, for %s", arch)
	}
	return nil
}
