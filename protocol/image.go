package protocol

// ArtefactKind is what one layer of a boot image is for. The wire value is the
// string itself; a layer of another kind is not an artefact.
type ArtefactKind string

// The kinds of artefacts.
const (
	ArtefactUKI       ArtefactKind = "uki"       // unified kernel image: one EFI executable
	ArtefactKernel    ArtefactKind = "kernel"    // Linux kernel
	ArtefactInitramfs ArtefactKind = "initramfs" // initial RAM file system
	ArtefactSquashfs  ArtefactKind = "squashfs"  // root file system that the initramfs fetches
)

// ArtefactKinds lists all kinds of artefacts.
func ArtefactKinds() []ArtefactKind {
	return []ArtefactKind{ArtefactUKI, ArtefactKernel, ArtefactInitramfs, ArtefactSquashfs}
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
