package enrol

import (
	"crypto/hmac"
	"io"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/tpmkey"
	"rackboot/protocol"
)

// secretSize is that of a challenge's secret, in bytes: the digest of SHA-256 is the most that
// every TPM takes.
const secretSize = 32

// Challenge is what the parameters of TPM2_ActivateCredential are made of (TPM 2.0 Library part 3
// section 12.5). It is no secret.
type Challenge struct {
	Blob []byte `json:"blob"` // TPM2B_ID_OBJECT, without its size
	Seed []byte `json:"seed"` // TPM2B_ENCRYPTED_SECRET, without its size
}

// Secret is what answers a challenge. Whoever has it is the TPM, so that it stays where it was made.
type Secret struct{ value []byte }

// Answered reports whether the answer is that of a TPM with both keys.
func (s Secret) Answered(answer []byte) bool {
	return len(s.value) == secretSize && hmac.Equal(s.value, answer)
}

// Bytes is the secret, to be kept until the answer comes.
func (s Secret) Bytes() []byte { return s.value }

// String hides the secret from logs and errors.
func (Secret) String() string { return "(secret)" }

// SecretOf is a secret that was kept.
func SecretOf(kept []byte) Secret { return Secret{kept} }

// NewChallenge makes a challenge that only the TPM with the endorsement key answers, and only if
// it has the attestation key too. random is a source of secrets, as crypto/rand.Reader. The error has
// the code internal: keys that this package took can be wrapped for.
func NewChallenge(random io.Reader, endorsement, attestation *tpmkey.Key) (Challenge, Secret, error) {
	const op = "challenge TPM"
	secret := make([]byte, secretSize)
	if _, err := io.ReadFull(random, secret); err != nil {
		return Challenge{}, Secret{}, protocol.Errorf(protocol.CodeInternal, op, "read random bytes: %w", err)
	}
	area := endorsement.Structure()
	to, err := tpm2.ImportEncapsulationKey(&area)
	if err != nil {
		return Challenge{}, Secret{}, protocol.Errorf(protocol.CodeInternal, op, "the endorsement key cannot be encrypted for: %w", err)
	}
	blob, seed, err := tpm2.CreateCredential(random, to, attestation.Name(), secret)
	if err != nil {
		return Challenge{}, Secret{}, protocol.Errorf(protocol.CodeInternal, op, "the endorsement key cannot be encrypted for: %w", err)
	}
	return Challenge{blob, seed}, Secret{secret}, nil
}
