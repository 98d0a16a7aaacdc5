package protocol

// ArtefactKind is what an artefact of an image is to a boot.
type ArtefactKind string

// The kinds of artefact.
const (
	ArtefactUKI       ArtefactKind = "uki"
	ArtefactKernel    ArtefactKind = "kernel"
	ArtefactInitramfs ArtefactKind = "initramfs"
	ArtefactSquashfs  ArtefactKind = "squashfs"
)

// Artefact is one layer of an image that a boot needs.
type Artefact struct {
	Kind      ArtefactKind `json:"kind"`
	Digest    string       `json:"digest"` // sha256:<hex>
	Size      int64        `json:"size"`   // bytes
	MediaType string       `json:"mediaType"`
}

// Image is an OCI image resolved to a digest for one architecture.
type Image struct {
	Reference    string     `json:"reference"` // as it was asked for
	Digest       string     `json:"digest"`    // of the manifest, sha256:<hex>
	Architecture string     `json:"architecture"`
	Artefacts    []Artefact `json:"artefacts"`
}

// Artefact returns the artefact of the kind.
func (i Image) Artefact(kind ArtefactKind) (Artefact, bool) {
	for _, a := range i.Artefacts {
		if a.Kind == kind {
			return a, true
		}
	}
	return Artefact{}, false
}
