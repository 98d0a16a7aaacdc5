package api

import (
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The routes of uploaded files.
const (
	PathISOs       = "/v1/isos"
	PathISOUploads = "/v1/iso-uploads"
	// PathISOContent gives agents the content of files, by digest.
	PathISOContent = "/v1/iso-content/"
)

// PathISO is the route of one uploaded file.
func PathISO(file string) string { return PathISOs + "/" + url.PathEscape(file) }

// PathISOUpload is the route of one upload.
func PathISOUpload(id string) string { return PathISOUploads + "/" + url.PathEscape(id) }

// PathISOFinish is the route that ends an upload.
func PathISOFinish(id string) string { return PathISOUpload(id) + "/finish" }

// PathISOPiece is the route that takes the next piece of an upload.
func PathISOPiece(id string, offset int64) string {
	return PathISOUpload(id) + "/content?offset=" + strconv.FormatInt(offset, 10)
}

const (
	// HeaderUploadOffset is how many bytes of an upload the hub has, in answers.
	HeaderUploadOffset = "Upload-Offset"
	// QueryForce removes an uploaded file that environments use, and an entry of a catalogue that groups boot.
	QueryForce = "force"

	// MaxISOSize bounds an uploaded file in bytes.
	MaxISOSize = 64 << 30
	// MaxISOPiece bounds one piece of an upload in bytes.
	MaxISOPiece = 64 << 20
	// ISOPieceWait bounds how long one piece may take.
	ISOPieceWait = 10 * time.Minute
	// ISOFinishWait bounds the check of all of a file at the end of its upload.
	ISOFinishWait = 30 * time.Minute
	// ISOUploadLife is how long an upload is kept to which nothing comes.
	ISOUploadLife = 24 * time.Hour
	// MaxISOSignature bounds a signature in bytes.
	MaxISOSignature = 64 << 10
	// MaxISOKeyring bounds the keys that come with a signature in bytes.
	MaxISOKeyring = 256 << 10
	// MaxISOSource bounds the source of a file in bytes.
	MaxISOSource = 2048
)

// ISOUploadRequest begins the upload of a file, or goes on with the one of the same file
// and digest.
type ISOUploadRequest struct {
	File string `json:"file"`
	// Digest is sha256:<hex> of what is uploaded, Size its bytes.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Replace lets the file take the place of another one of its name.
	Replace bool `json:"replace,omitempty"`
	// Source says where it was downloaded; without credentials, query and fragment.
	Source string `json:"source,omitempty"`
	// Signature is a detached signature of what is uploaded, of Scheme. Keyring are the keys
	// that it is checked with, where the hub has none of its own; both binary or armored.
	Signature []byte                   `json:"signature,omitempty"`
	Scheme    resource.SignatureScheme `json:"scheme,omitempty"`
	Keyring   []byte                   `json:"keyring,omitempty"`
}

// CheckISOFile says why a name is none for an uploaded file. The code is invalid.
func CheckISOFile(name string) error {
	if resource.ValidISOFile(name) {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalid, "upload file", "%.300q is not a name for a file", name).
		WithHint("use one path element of at most %d printable bytes that does not begin with a dot", resource.MaxISOFileName)
}

// Validate says what is wrong with the form. The code is invalid.
func (r ISOUploadRequest) Validate() error {
	const op = "upload file"
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, op, format, args...)
	}
	if err := CheckISOFile(r.File); err != nil {
		return err
	}
	switch {
	case !ValidDigest(r.Digest):
		return bad("digest is not sha256: and 64 lower-case hex digits")
	case r.Size < 1 || r.Size > MaxISOSize:
		return protocol.Errorf(protocol.CodeInvalid, op, "%d bytes are not the size of a file", r.Size).WithHint("1 byte to %d GiB", MaxISOSize>>30)
	case len(r.Signature) > MaxISOSignature || len(r.Keyring) > MaxISOKeyring:
		return protocol.Errorf(protocol.CodeInvalid, op, "the signature has more than %d bytes, or the keyring more than %d", MaxISOSignature, MaxISOKeyring).
			WithHint("give the detached signature, and only the keys that it may be of")
	case (len(r.Signature) == 0) != (r.Scheme == ""):
		return bad("signature and scheme are given together")
	case r.Scheme != "" && r.Scheme != resource.SignatureOpenPGP:
		return protocol.Errorf(protocol.CodeUnsupported, op, "no signatures of scheme %.40q are known", r.Scheme).WithHint("use %s", resource.SignatureOpenPGP)
	}
	return checkSource(op, r.Source)
}

// checkSource keeps credentials out of the book.
func checkSource(op, source string) error {
	if source == "" {
		return nil
	}
	u, err := url.Parse(source)
	if err != nil || len(source) > MaxISOSource || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return protocol.Errorf(protocol.CodeInvalid, op, "source is not an http or https URL without user, query and fragment").
			WithHint("what is after ? may be a credential, which the book does not keep")
	}
	return nil
}

// ValidDigest says whether s is sha256: and 64 lower-case hex digits.
func ValidDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, "sha256:")
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == 64 && digits == strings.ToLower(digits)
}

// ISOUpload is an upload as it is. One that is Done needs nothing any more.
type ISOUpload struct {
	ID     string `json:"id,omitempty"`
	File   string `json:"file"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Offset is how many bytes are there, and Prefix what they hash to: who sends the rest
	// sees whether it has the same beginning.
	Offset    int64     `json:"offset"`
	Prefix    string    `json:"prefix,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// Done says that the file of this name has this content already.
	Done bool `json:"done,omitempty"`
}

// ISOFinishRequest ends an upload whose content is there.
type ISOFinishRequest struct {
	File string `json:"file"` // the upload's
}

// ISOItem is an uploaded file with who names it.
type ISOItem struct {
	resource.ISOFile
	// BootEnvs are the environments that name the file, Servers those that are to boot one of
	// them.
	BootEnvs []string `json:"bootEnvs,omitempty"`
	Servers  []string `json:"servers,omitempty"`
	// Missing says that the hub has lost the content; the same upload brings it back.
	Missing bool `json:"missing,omitempty"`
}

// ISOList is all uploaded files, in order of name.
type ISOList struct {
	Items []ISOItem `json:"items"`
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
	// Uploads are those that have not ended.
	Uploads []ISOUpload `json:"uploads,omitempty"`
}
