package resource

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxISOFileName bounds the name of an uploaded file in bytes: what file systems take.
const MaxISOFileName = 255

// ISOFile is an uploaded file as the hub has it in its book.
type ISOFile struct {
	File string `json:"file"`
	// Digest and Size, in bytes, are of what agents fetch and serve.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Uploaded and UploadedSize are of what was uploaded. They differ from Digest and Size
	// where a compressed tar was packed again, so that it can be read in place. Checksums
	// that people know, such as that of a BootEnv, are of this.
	Uploaded     string    `json:"uploaded"`
	UploadedSize int64     `json:"uploadedSize"`
	UploadedAt   time.Time `json:"uploadedAt"`
	UploadedBy   string    `json:"uploadedBy"`
	// Source is where it was downloaded, without credentials; empty for a file.
	Source    string        `json:"source,omitempty"`
	Signature *ISOSignature `json:"signature,omitempty"`
}

// ISOSignature says who signed an uploaded file, or an OCI image. The hub has verified it.
type ISOSignature struct {
	Scheme SignatureScheme `json:"scheme"`
	// Key is the fingerprint in upper-case hex digits; of [SignatureCosign], the key's name
	// in the hub's file.
	Key string `json:"key"`
	By  string `json:"by,omitempty"`
	// Fingerprint is of a key that goes by its name: SHA-256 of its SubjectPublicKeyInfo
	// (RFC 5280, section 4.1), in upper-case hex digits. Another key of the name proves anew.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Claimed is what a signature of [SignatureCosign] says that the image is called. It is
	// the signer's word, and nothing is decided by it.
	Claimed string `json:"claimed,omitempty"`
	// Keyring says whose word it is that the key is good.
	Keyring KeyringOwner `json:"keyring"`
}

// SignatureScheme is a kind of detached signature.
type SignatureScheme string

const (
	// SignatureOpenPGP is a detached signature of OpenPGP (RFC 9580, section 10.4).
	SignatureOpenPGP SignatureScheme = "openpgp"
	// SignatureCosign is a signature beside an OCI image, by a public key (cosign's
	// SIGNATURE_SPEC.md, simple signing).
	SignatureCosign SignatureScheme = "cosign"
)

// KeyringOwner is who says which keys are good.
type KeyringOwner string

// The owners.
const (
	KeyringHub    KeyringOwner = "hub"    // the keyring of the hub's file
	KeyringCaller KeyringOwner = "caller" // one that came with the upload
)

// Env is the file as environments name it.
func (f ISOFile) Env() EnvISO {
	out := EnvISO{File: f.File, Digest: f.Digest, Size: f.Size}
	if f.Uploaded != f.Digest {
		out.Uploaded = f.Uploaded
	}
	return out
}

// ValidISOFile says whether s may be the name of an uploaded file: one path element of
// at most 255 bytes of printable UTF-8, which neither begins with a dot nor with or ends
// with a space. It may have capitals and dots, and so is not the name of a resource.
func ValidISOFile(s string) bool {
	if s == "" || len(s) > MaxISOFileName || !utf8.ValidString(s) || s[0] == '.' || strings.TrimSpace(s) != s {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r)
	})
}
