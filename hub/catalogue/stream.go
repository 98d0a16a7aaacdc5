package catalogue

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/coreos/stream-metadata-go/release"
	"github.com/coreos/stream-metadata-go/stream"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// metal is the platform that servers are (stream-metadata, artifacts).
const metal = "metal"

// FromStream makes entries of stream metadata: one for each version that is in it, because
// architectures may be at different ones while a stream moves. The codes are invalid and
// not_found (an architecture that was asked for, or all, have nothing that servers boot).
func FromStream(raw []byte, o ImportOptions) ([]*resource.BootImage, error) {
	const op = "read stream metadata"
	if err := o.check(op, raw); err != nil {
		return nil, err
	}
	var s stream.Stream
	if err := decode(op, raw, &s); err != nil {
		return nil, err
	}
	byVersion := map[string]map[string]resource.BootImageArch{}
	for rpm, a := range s.Architectures {
		p, ok := a.Artifacts[metal]
		if goarch := goArch(rpm); ok && o.wanted(goarch) {
			if image, ok := o.files(p.Formats); ok {
				if byVersion[p.Release] == nil {
					byVersion[p.Release] = map[string]resource.BootImageArch{}
				}
				byVersion[p.Release][goarch] = image
			}
		}
	}
	return o.entries(op, resource.SourceStream, byVersion)
}

// FromRelease makes the entry of the metadata of one release. The codes are those of
// [FromStream].
func FromRelease(raw []byte, o ImportOptions) ([]*resource.BootImage, error) {
	const op = "read release metadata"
	if err := o.check(op, raw); err != nil {
		return nil, err
	}
	var r release.Release
	if err := decode(op, raw, &r); err != nil {
		return nil, err
	}
	archs := map[string]resource.BootImageArch{}
	for rpm, a := range r.Architectures {
		if goarch := goArch(rpm); a.Media.Metal != nil && o.wanted(goarch) {
			formats := map[string]stream.ImageFormat{}
			for name, f := range a.Media.Metal.Artifacts {
				formats[name] = stream.ImageFormat{Disk: artifact(f.Disk), Kernel: artifact(f.Kernel), Initramfs: artifact(f.Initramfs), Rootfs: artifact(f.Rootfs)}
			}
			if image, ok := o.files(formats); ok {
				archs[goarch] = image
			}
		}
	}
	return o.entries(op, resource.SourceRelease, map[string]map[string]resource.BootImageArch{r.Release: archs})
}

func artifact(a *release.Artifact) *stream.Artifact {
	if a == nil {
		return nil
	}
	return &stream.Artifact{Location: a.Location, Signature: a.Signature, Sha256: a.Sha256, UncompressedSha256: a.UncompressedSha256}
}

// files are those of an image that servers boot; false if there are none.
func (o ImportOptions) files(formats map[string]stream.ImageFormat) (resource.BootImageArch, bool) {
	var out resource.BootImageArch
	add := func(kind resource.ArtefactKind, a *stream.Artifact) {
		if a == nil {
			return
		}
		f := resource.BootImageFile{Kind: kind, URL: a.Location, SHA256: a.Sha256, UncompressedSHA256: a.UncompressedSha256}
		if a.Signature != "" {
			f.Signature = &resource.BootImageSignature{Scheme: resource.SignatureOpenPGP, URL: a.Signature}
		}
		out.Files = append(out.Files, f)
	}
	for _, format := range o.formats() {
		switch f := formats[string(format)]; format {
		case FormatPXE:
			if f.Kernel == nil || f.Initramfs == nil {
				continue // one of them alone boots nothing
			}
			add(resource.ArtefactKernel, f.Kernel)
			add(resource.ArtefactInitramfs, f.Initramfs)
			add(resource.ArtefactSquashfs, f.Rootfs)
			out.CommandLine = o.CommandLine
		case FormatISO:
			add(resource.ArtefactISO, f.Disk)
		}
	}
	return out, len(out.Files) > 0
}

// entries are made in order of version, which is the text's where they cannot be compared.
func (o ImportOptions) entries(op string, kind resource.BootImageSourceKind, byVersion map[string]map[string]resource.BootImageArch) ([]*resource.BootImage, error) {
	var out []*resource.BootImage
	for _, version := range slices.Sorted(maps.Keys(byVersion)) {
		if len(byVersion[version]) == 0 {
			continue
		}
		b, err := o.entry(op, kind, version, "", byVersion[version])
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	if len(out) == 0 && len(o.Architectures) == 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "nothing in it is for servers: no platform metal with the formats pxe or iso, for %v", resource.BootArchitectures()).
			WithHint("give stream or release metadata of Fedora CoreOS or another CoreOS")
	}
	return out, o.lacking(op, func(a string) bool {
		return slices.ContainsFunc(out, func(b *resource.BootImage) bool { _, ok := b.Spec.Architectures[a]; return ok })
	})
}

func decode(op string, raw []byte, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("give the JSON that the vendor publishes")
	}
	return nil
}
