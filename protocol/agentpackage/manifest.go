package agentpackage

import (
	"crypto/ed25519"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// Purpose is what a manifest is signed for: a signature for anything else does not count for it.
const Purpose = "rb/v1/fact/agent-package"

// The caps.
const (
	MaxManifest = 4 << 10   // bytes of a signed manifest
	MaxBinary   = 128 << 20 // bytes of one program
	MaxBinaries = 8
	maxVersion  = 64 // characters
)

// ManifestFile is the name of the signed manifest in a package.
const ManifestFile = "manifest.cose"

// BinaryFile is the name of the program of an architecture in a package.
func BinaryFile(architecture string) string { return "rackboot-agent-" + architecture }

// Manifest is what a package has.
type Manifest struct {
	Version string `json:"version"`
	// Protocol is the newest of the link that the programs speak.
	Protocol int `json:"protocol"`
	// From is the lowest version that may be upgraded to this one; empty is any.
	From     string    `json:"from,omitempty"`
	MadeAt   time.Time `json:"madeAt"`
	Binaries []Binary  `json:"binaries"`
}

// Binary is a program.
type Binary struct {
	Architecture string `json:"architecture"` // amd64, arm64
	SHA256       string `json:"sha256"`       // sha256:<hex>
	Size         int64  `json:"size"`         // bytes
}

// For is the program of an architecture.
func (m Manifest) For(architecture string) (Binary, bool) {
	for _, b := range m.Binaries {
		if b.Architecture == architecture {
			return b, true
		}
	}
	return Binary{}, false
}

// Follows reports whether an agent of the version may be upgraded to this package. One whose version cannot be
// compared may only where any may.
func (m Manifest) Follows(running string) bool {
	if m.From == "" {
		return true
	}
	order, ok := Compare(running, m.From)
	return ok && order >= 0
}

// Check says what of a manifest cannot be. The error is invalid.
func (m Manifest) Check() error {
	const op = "check a manifest"
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, op, format, args...).WithHint("make the package again with `rackctl agent-package make`")
	}
	switch {
	case len(m.Version) > maxVersion || !validVersion(m.Version):
		return bad("%.70q is no version; it is like 1.4.0 or 1.4.0-rc.1", m.Version)
	case m.From != "" && (len(m.From) > maxVersion || !validVersion(m.From)):
		return bad("%.70q is no version that may be upgraded", m.From)
	case m.Protocol < 1:
		return bad("protocol %d of the link does not exist", m.Protocol)
	case m.MadeAt.IsZero():
		return bad("it does not say when it was made")
	case len(m.Binaries) == 0 || len(m.Binaries) > MaxBinaries:
		return bad("it has %d programs; it may have 1 to %d", len(m.Binaries), MaxBinaries)
	}
	seen := map[string]bool{}
	for _, b := range m.Binaries {
		switch {
		case !validArchitecture(b.Architecture) || seen[b.Architecture]:
			return bad("the architecture %.20q is no name, or is there twice", b.Architecture)
		case !protocol.ValidDigest(b.SHA256):
			return bad("the digest of the program for %s is not sha256:<hex>", b.Architecture)
		case b.Size < 1 || b.Size > MaxBinary:
			return bad("the program for %s has %d bytes; it may have 1 to %d", b.Architecture, b.Size, MaxBinary)
		}
		seen[b.Architecture] = true
	}
	return nil
}

// validArchitecture reports whether a word can be one of GOARCH: it becomes part of a file's name.
func validArchitecture(word string) bool {
	if word == "" || len(word) > 16 {
		return false
	}
	for _, r := range word {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// Sign seals a manifest with a publisher's key. Errors: invalid for a manifest that [Manifest.Check] refuses, and for an
// unusable key.
func Sign(m Manifest, key ed25519.PrivateKey) ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	signed, err := wire.Seal(wire.NewSigner(key), Purpose, m)
	if err != nil {
		return nil, err
	}
	return signed, inBounds(signed)
}

// Read reads a signed manifest without looking at who signed it: for those who show it. Errors: invalid.
func Read(signed []byte) (m Manifest, err error) {
	if err := inBounds(signed); err != nil {
		return m, err
	}
	envelope, err := wire.Inspect(signed)
	if err != nil {
		return m, err
	}
	if err := envelope.Decode(&m); err != nil {
		return Manifest{}, err
	}
	if err := m.Check(); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// Open reads a manifest that one of the keys signed. Errors: denied if none did; invalid for what [Read] refuses.
func Open(signed []byte, keys []ed25519.PublicKey) (m Manifest, err error) {
	if err := inBounds(signed); err != nil {
		return m, err
	}
	if err := wire.Open(wire.NewVerifier(keys...), Purpose, signed, &m); err != nil {
		return Manifest{}, err
	}
	if err := m.Check(); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

func inBounds(signed []byte) error {
	if len(signed) > MaxManifest {
		return protocol.Errorf(protocol.CodeInvalid, "read a manifest", "it is %d bytes large, the limit is %d", len(signed), MaxManifest).
			WithHint("make the package again with `rackctl agent-package make`")
	}
	return nil
}
