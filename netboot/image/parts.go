package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/netboot/iso"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Media types of the layers that [Build] writes.
const (
	buildsUKI       = "application/vnd.ironcore.image.uki"
	buildsKernel    = "application/vnd.ironcore.image.kernel"
	buildsInitramfs = "application/vnd.ironcore.image.initramfs"
	buildsSquashfs  = "application/vnd.ironcore.image.squashfs"
)

// Parts are the files that servers of one architecture boot from. The fields are names of
// files; an empty one is absent. One way to boot must be complete: a UKI, a kernel with
// its initramfs, or an ISO image.
type Parts struct {
	Architecture string // amd64 or arm64
	UKI          string
	Kernel       string
	Initramfs    string
	Squashfs     string
	ISO          string
	CommandLine  string // of Kernel; a UKI and an ISO image have their own
}

// part is a file with what it is.
type part struct {
	kind      resource.ArtefactKind
	file      string
	mediaType string
}

func (p Parts) parts() []part {
	all := []part{
		{resource.ArtefactUKI, p.UKI, buildsUKI},
		{resource.ArtefactKernel, p.Kernel, buildsKernel},
		{resource.ArtefactInitramfs, p.Initramfs, buildsInitramfs},
		{resource.ArtefactSquashfs, p.Squashfs, buildsSquashfs},
		{resource.ArtefactISO, p.ISO, typeISO},
	}
	return slices.DeleteFunc(all, func(p part) bool { return p.file == "" })
}

func (p Parts) check() error {
	const op = "build image"
	switch {
	case !slices.Contains([]string{"amd64", "arm64"}, p.Architecture):
		return protocol.Errorf(protocol.CodeInvalid, op, "architecture %q is not amd64 or arm64", p.Architecture)
	case p.UKI == "" && p.ISO == "" && (p.Kernel == "" || p.Initramfs == ""):
		return protocol.Errorf(protocol.CodeInvalid, op, "the files are no complete way to boot").
			WithHint("give a UKI, or a kernel with its initramfs, or an ISO image")
	case p.CommandLine != "" && p.Kernel == "":
		return protocol.Errorf(protocol.CodeInvalid, op, "there is a command line and no kernel").
			WithHint("a UKI has its command line in itself: ukify build --cmdline")
	}
	if err := resource.CheckCommandLine(p.CommandLine); err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "command line: %w", err)
	}
	return nil
}

// image checks the files as [Inspect] would and puts them together. Their content is read
// again whenever a layer is written.
func (p Parts) image() (v1.Image, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	config := []byte("{}")
	configType := types.MediaType("application/vnd.oci.empty.v1+json") // OCI image specification 1.1, "empty descriptor"
	if p.Kernel != "" {
		var err error
		if config, err = json.Marshal(map[string]string{configKey(typeConfig): p.CommandLine}); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "build image", "%w", err)
		}
		configType = typeConfig
	}
	b := &built{config: config, layers: map[v1.Hash]*fileLayer{}}
	digest, size, err := v1.SHA256(bytes.NewReader(config))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "build image", "%w", err)
	}
	m := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: v1.Descriptor{MediaType: configType, Digest: digest, Size: size}}
	for _, part := range p.parts() {
		l, err := part.layer(p.Architecture)
		if err != nil {
			return nil, err
		}
		b.layers[l.digest] = l
		m.Layers = append(m.Layers, v1.Descriptor{MediaType: l.mediaType, Digest: l.digest, Size: l.size})
	}
	if b.manifest, err = json.Marshal(m); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "build image", "%w", err)
	}
	return partial.CompressedToImage(b)
}

// layer reads the file once: its digest, its size, and whether it is what it is called.
func (p part) layer(arch string) (*fileLayer, error) {
	const op = "build image"
	f, err := os.Open(p.file)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "the %s: %w", p.kind, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the %s: %s is no ordinary file", p.kind, p.file)
	}
	if p.kind == resource.ArtefactISO {
		err = iso.Check(f, arch)
	} else {
		head := make([]byte, min(info.Size(), headSize))
		if _, err := io.ReadFull(f, head); err != nil {
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "read %s: %w", p.file, err)
		}
		if why := inspect(resource.Artefact{Kind: p.kind, Size: info.Size()}, head, arch); why != nil {
			err = fmt.Errorf("it %w", why)
		}
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the %s %s cannot be booted: %w", p.kind, p.file, err).
			WithHint("give the right file for %s, and its architecture", p.kind)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "read %s: %w", p.file, err)
	}
	digest, size, err := v1.SHA256(f)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "read %s: %w", p.file, err)
	}
	return &fileLayer{file: p.file, mediaType: types.MediaType(p.mediaType), digest: digest, size: size}, nil
}

// built is a manifest with its configuration, and layers that lie in files.
type built struct {
	manifest, config []byte
	layers           map[v1.Hash]*fileLayer
}

func (b *built) RawConfigFile() ([]byte, error)      { return b.config, nil }
func (b *built) RawManifest() ([]byte, error)        { return b.manifest, nil }
func (b *built) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (b *built) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if l, ok := b.layers[h]; ok {
		return l, nil
	}
	return nil, errors.New("there is no layer " + h.String())
}

// fileLayer is a layer as it lies in a file.
type fileLayer struct {
	file      string
	mediaType types.MediaType
	digest    v1.Hash
	size      int64
}

func (l *fileLayer) Digest() (v1.Hash, error)            { return l.digest, nil }
func (l *fileLayer) Size() (int64, error)                { return l.size, nil }
func (l *fileLayer) MediaType() (types.MediaType, error) { return l.mediaType, nil }
func (l *fileLayer) Compressed() (io.ReadCloser, error)  { return os.Open(l.file) }
