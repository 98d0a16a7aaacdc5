package resource

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// BootImage is one entry of a catalogue of boot images: what one version is, for each
// architecture. Its spec never changes; another version is another entry (seed 001, the
// golden configmap).
type BootImage struct {
	Header
	Spec   BootImageSpec   `json:"spec"`
	Status BootImageStatus `json:"status,omitzero"`
}

// BootImageSpec is the entry.
type BootImageSpec struct {
	// Catalogue is the line of images that the entry is of, such as
	// fedora-coreos-stable. Groups follow a catalogue.
	Catalogue string `json:"catalogue"`
	// Version is the vendor's. Entries of one catalogue are ordered by it, part by part,
	// numbers as numbers; two with the same version are refused.
	Version string `json:"version"`
	// MaxIgnition is the highest specification that the image's Ignition reads, such as
	// 3.4.0; empty is an image without Ignition, or one of which nobody has said it: a group
	// with user data refuses that.
	MaxIgnition string `json:"maxIgnition,omitempty"`
	// Architectures are by GOARCH words.
	Architectures map[string]BootImageArch `json:"architectures"`
	Source        *BootImageSource         `json:"source,omitempty"`
}

// BootImageArch is the image for one architecture: exactly one of an OCI reference with a
// digest, and files.
type BootImageArch struct {
	// Image is an OCI reference that ends with @sha256:….
	Image string          `json:"image,omitempty"`
	Files []BootImageFile `json:"files,omitempty"`
	// CommandLine goes with Files: see [Image].
	CommandLine string `json:"commandLine,omitempty"`
	// Signature goes with Image: without a proof of it nothing boots the entry.
	Signature *ImageSignature `json:"signature,omitempty"`
}

// ImageSignature says which signature of an OCI image is wanted. It lies in the image's
// repository, and is of exactly the digest that the entry names.
type ImageSignature struct {
	Scheme SignatureScheme `json:"scheme"`
	// Key is the name of a key of the hub's file; empty is any of them.
	Key string `json:"key,omitempty"`
}

// BootImageFile is one file of an image. The hub fetches it once, verifies it, and gives
// it to agents by its digest.
type BootImageFile struct {
	Kind ArtefactKind `json:"kind"`
	URL  string       `json:"url"`
	// SHA256 is of the file behind URL, in 64 hex digits; UncompressedSHA256 of what is in
	// it, where it is compressed and booted uncompressed.
	SHA256             string              `json:"sha256"`
	UncompressedSHA256 string              `json:"uncompressedSHA256,omitempty"`
	Signature          *BootImageSignature `json:"signature,omitempty"`
}

// BootImageSignature is where the detached signature of a file is.
type BootImageSignature struct {
	Scheme SignatureScheme `json:"scheme"`
	URL    string          `json:"url"`
}

// BootImageSource is where an entry was imported from.
type BootImageSource struct {
	Kind   BootImageSourceKind `json:"kind"`
	URL    string              `json:"url,omitempty"` // without credentials
	Digest string              `json:"digest,omitempty"`
}

// BootImageSourceKind is a kind of metadata.
type BootImageSourceKind string

// The kinds of sources.
const (
	SourceStream  BootImageSourceKind = "stream"  // CoreOS stream metadata
	SourceRelease BootImageSourceKind = "release" // CoreOS release index
	SourceOCI     BootImageSourceKind = "oci"     // OCI image index
	SourceManual  BootImageSourceKind = "manual"
)

// bootImageSourceKinds lists the kinds.
var bootImageSourceKinds = []BootImageSourceKind{SourceStream, SourceRelease, SourceOCI, SourceManual}

// BootImageStatus is what the hub knows of an entry. Stamp and Verified are stored.
type BootImageStatus struct {
	Stamp *BootImageStamp `json:"stamp,omitempty"`
	// Verified is what was proved of the files, by their digest, and of OCI images whose
	// signature is wanted, by the digest that the entry names.
	Verified   map[string]BootImageVerified `json:"verified,omitempty"`
	Conditions []ConditionState             `json:"conditions,omitempty"`
}

// BootImageStamp says that the entry may be used for groups: a server has really booted
// it, under this version of the hub (seed 001: the configmap is stamped after at least
// one node has completed an update). It counts for the spec with this digest only.
type BootImageStamp struct {
	Version    string                `json:"version"`    // the entry's
	Digest     string                `json:"digest"`     // of the entry's spec, see [BootImage.Digest]
	HubVersion string                `json:"hubVersion"` // of the hub that wrote the stamp
	Server     string                `json:"server"`     // that booted it
	Image      string                `json:"image"`      // digest of what it booted
	Evidence   protocol.EvidenceKind `json:"evidence"`
	At         time.Time             `json:"at"`
}

// BootImageVerified is what was proved of one file, or of an OCI image.
type BootImageVerified struct {
	At        time.Time     `json:"at"`
	Size      int64         `json:"size"`                // bytes, of what is booted; 0 for an OCI image
	Digest    string        `json:"digest"`              // of what is booted
	Signature *ISOSignature `json:"signature,omitempty"` // nil: the entry names none
}

// Default sets kind and version.
func (b *BootImage) Default() { b.APIVersion, b.Kind = APIVersion, KindBootImage }

// Validate reports wrong fields.
func (b *BootImage) Validate() protocol.FieldErrors {
	var f fields
	b.check(&f)
	f.name("spec.catalogue", b.Spec.Catalogue)
	if _, err := ParseImageVersion(b.Spec.Version); err != nil {
		f.Add("spec.version", "%s", err)
	}
	if v := b.Spec.MaxIgnition; v != "" && !ValidIgnitionVersion(v) {
		f.Add("spec.maxIgnition", "%q is not a version of the Ignition specification such as 3.4.0", v)
	}
	if len(b.Spec.Architectures) == 0 {
		f.Add("spec.architectures", "give at least one of %v", BootArchitectures())
	}
	for _, arch := range slices.Sorted(maps.Keys(b.Spec.Architectures)) {
		b.Spec.Architectures[arch].validate(&f, fmt.Sprintf("spec.architectures[%s]", arch), arch)
	}
	b.signedAlike(&f)
	if s := b.Spec.Source; s != nil {
		oneOf(&f, "spec.source.kind", s.Kind, bootImageSourceKinds...)
	}
	return f.FieldErrors
}

func (a BootImageArch) validate(f *fields, path, arch string) {
	if !slices.Contains(BootArchitectures(), arch) {
		f.Add(path, "%q is none of %v", arch, BootArchitectures())
	}
	switch {
	case (a.Image == "") == (len(a.Files) == 0):
		f.Add(path, "give exactly one of image and files")
	case a.Image != "" && imageDigest(a.Image) == "":
		f.Add(path+".image", "%q has no @sha256:…; a tag means another image tomorrow", a.Image)
	case a.Image != "" && a.CommandLine != "":
		f.Add(path+".commandLine", "is for files; an OCI image has its own")
	}
	if err := CheckCommandLine(a.CommandLine); err != nil {
		f.Add(path+".commandLine", "%s", err)
	}
	a.validateSignature(f, path+".signature")
	kinds := map[ArtefactKind]bool{}
	for i, file := range a.Files {
		at := fmt.Sprintf("%s.files[%d]", path, i)
		oneOf(f, at+".kind", file.Kind, ArtefactKinds()...)
		if kinds[file.Kind] {
			f.Add(at+".kind", "%s is given twice", file.Kind)
		}
		kinds[file.Kind] = true
		file.validate(f, at)
	}
	if kinds[ArtefactKernel] != kinds[ArtefactInitramfs] {
		f.Add(path+".files", "a kernel boots with an initramfs, and an initramfs with a kernel")
	}
}

func (a BootImageArch) validateSignature(f *fields, path string) {
	s := a.Signature
	if s == nil {
		return
	}
	if a.Image == "" {
		f.Add(path, "is for an OCI image; each of files has its own")
	}
	oneOf(f, path+".scheme", s.Scheme, SignatureCosign)
	if s.Key != "" {
		f.name(path+".key", s.Key)
	}
}

// signedAlike wants one signature of one digest: what is proved of it is kept by it.
func (b *BootImage) signedAlike(f *fields) {
	by := map[string]ImageSignature{} // digest -> what is wanted
	for _, arch := range slices.Sorted(maps.Keys(b.Spec.Architectures)) {
		a := b.Spec.Architectures[arch]
		if a.Image == "" {
			continue
		}
		var want ImageSignature
		if a.Signature != nil {
			want = *a.Signature
		}
		digest := imageDigest(a.Image)
		if was, ok := by[digest]; ok && was != want {
			f.Add(fmt.Sprintf("spec.architectures[%s].signature", arch), "another architecture has the same image, and wants another signature")
		}
		by[digest] = want
	}
}

func (b BootImageFile) validate(f *fields, path string) {
	f.fileURL(path+".url", b.URL)
	if !protocol.ValidDigest("sha256:" + b.SHA256) {
		f.Add(path+".sha256", "%q is not 64 hex digits in lower case", b.SHA256)
	}
	if b.UncompressedSHA256 != "" && !protocol.ValidDigest("sha256:"+b.UncompressedSHA256) {
		f.Add(path+".uncompressedSHA256", "%q is not 64 hex digits in lower case", b.UncompressedSHA256)
	}
	if s := b.Signature; s != nil {
		oneOf(f, path+".signature.scheme", s.Scheme, SignatureOpenPGP)
		f.fileURL(path+".signature.url", s.URL)
	}
}

func imageDigest(reference string) string {
	_, digest := SplitImage(reference)
	return digest
}

// BootArchitectures lists the architectures of images, in GOARCH words.
func BootArchitectures() []string { return []string{"amd64", "arm64"} }

func (f *fields) fileURL(path, s string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		f.Add(path, "is not a URL such as https://mirror.example/kernel")
	case u.User != nil:
		f.Add(path, "has a user or password in it, which everybody can read here; leave it out")
	}
}

// OnlyArchitecture is the architecture of an entry that has one; with several, somebody has to say
// which: conflict.
func (b *BootImage) OnlyArchitecture() (string, error) {
	return onlyKey(b.Metadata.Name, b.Spec.Architectures)
}

// onlyKey is the only architecture of what has several by architecture.
func onlyKey[T any](name string, by map[string]T) (string, error) {
	archs := slices.Sorted(maps.Keys(by))
	if len(archs) == 1 {
		return archs[0], nil
	}
	return "", protocol.Errorf(protocol.CodeConflict, "choose architecture", "%s is there for %s, and the server's architecture is not known", name, strings.Join(archs, ", ")).
		WithHint("set spec.architecture of the Server")
}
