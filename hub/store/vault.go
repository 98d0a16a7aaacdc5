package store

import "rackboot/protocol/resource"

// Vault encrypts what is in Secrets before they are stored. Its errors never have a
// value.
type Vault interface {
	// Digest is a keyed digest of a Secret's name, type and data, the same for the same.
	Digest(name string, t resource.SecretType, data resource.SecretData) (string, error)
	// Seal encrypts data for one version of one Secret. The result is JSON.
	Seal(id SecretID, data resource.SecretData) ([]byte, error)
}

// SecretID is one version of one Secret.
type SecretID struct {
	Name    string
	UID     string
	Version uint64
}
