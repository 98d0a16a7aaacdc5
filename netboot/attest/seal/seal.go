package seal

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	"slices"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/tpmkey"
	"rackboot/protocol"
)

// MaxSecret is the longest secret, in bytes: what every TPM takes (MAX_SYM_DATA). Whoever has more to
// say seals a key to it.
const MaxSecret = 128

// Policy is what has to be so for the TPM to open the secret.
type Policy struct {
	Bank   eventlog.Algorithm
	Values map[int][]byte // of PCRs, by number
	// Resets, if not nil, is the TPM's count of resets, so that the secret is not opened after
	// another start of the machine, though its PCRs have the same values then. It is the count of
	// a quote by a key of the endorsement hierarchy: any other's is not the TPM's own.
	Resets *uint32
}

// Sealed is what TPM2_Import takes, without sizes. It is no secret to anybody but the TPM.
type Sealed struct {
	Public    []byte // TPMT_PUBLIC of the object
	Duplicate []byte // TPM2B_PRIVATE
	Seed      []byte // TPM2B_ENCRYPTED_SECRET
}

// maxPCR is the last PCR.
const maxPCR = 23

// Wrap seals a secret below a storage key of the TPM, as its endorsement key is one. random
// is a source of secrets, as crypto/rand.Reader. The error has the code invalid for a policy
// without a PCR, or a secret that is empty or too long, denied for a key that would let the
// secret out, and internal.
func Wrap(random io.Reader, parent *tpmkey.Key, secret []byte, p Policy) (Sealed, error) {
	const op = "seal to TPM"
	if n := len(secret); n == 0 || n > MaxSecret {
		return Sealed{}, protocol.Errorf(protocol.CodeInvalid, op, "the secret has %d bytes; 1 to %d can be sealed", n, MaxSecret)
	}
	if a := parent.Attributes(); !a.Restricted || !a.Decrypt || a.SignEncrypt || !a.FixedTPM || !a.FixedParent {
		return Sealed{}, protocol.Errorf(protocol.CodeDenied, op, "the key is no storage key of one TPM")
	}
	policy, err := p.digest()
	if err != nil {
		return Sealed{}, err
	}
	seed := make([]byte, sha256.Size)
	if _, err := io.ReadFull(random, seed); err != nil {
		return Sealed{}, protocol.Errorf(protocol.CodeInternal, op, "read random bytes: %w", err)
	}
	unique := sha256.Sum256(slices.Concat(seed, secret))
	public := tpm2.TPMTPublic{
		Type:    tpm2.TPMAlgKeyedHash,
		NameAlg: tpm2.TPMAlgSHA256,
		// Nothing opens it but the policy: it has no password that would, and it is duplicated
		// by no policy.
		ObjectAttributes: tpm2.TPMAObject{AdminWithPolicy: true, NoDA: true},
		AuthPolicy:       tpm2.TPM2BDigest{Buffer: policy},
		Parameters:       tpm2.NewTPMUPublicParms(tpm2.TPMAlgKeyedHash, &tpm2.TPMSKeyedHashParms{}),
		Unique:           tpm2.NewTPMUPublicID(tpm2.TPMAlgKeyedHash, &tpm2.TPM2BDigest{Buffer: unique[:]}),
	}
	sensitive := tpm2.TPMTSensitive{
		SensitiveType: tpm2.TPMAlgKeyedHash,
		SeedValue:     tpm2.TPM2BDigest{Buffer: seed},
		Sensitive:     tpm2.NewTPMUSensitiveComposite(tpm2.TPMAlgKeyedHash, &tpm2.TPM2BSensitiveData{Buffer: secret}),
	}
	name, err := tpm2.ObjectName(&public)
	if err != nil {
		return Sealed{}, protocol.Errorf(protocol.CodeInternal, op, "name the object: %w", err)
	}
	area := parent.Structure()
	to, err := tpm2.ImportEncapsulationKey(&area)
	if err != nil {
		return Sealed{}, protocol.Errorf(protocol.CodeInternal, op, "the key cannot be encrypted for: %w", err)
	}
	duplicate, encrypted, err := tpm2.CreateDuplicate(random, to, name.Buffer, tpm2.Marshal(sensitive))
	if err != nil {
		return Sealed{}, protocol.Errorf(protocol.CodeInternal, op, "the key cannot be encrypted for: %w", err)
	}
	return Sealed{Public: tpm2.Marshal(public), Duplicate: duplicate, Seed: encrypted}, nil
}

// Selection is the policy's PCRs as TPM2_PolicyPCR takes them.
func (p Policy) Selection() tpm2.TPMLPCRSelection {
	var pcrs []uint
	for _, pcr := range slices.Sorted(maps.Keys(p.Values)) {
		pcrs = append(pcrs, uint(pcr))
	}
	return tpm2.TPMLPCRSelection{PCRSelections: []tpm2.TPMSPCRSelection{
		{Hash: tpm2.TPMIAlgHash(p.Bank), PCRSelect: tpm2.PCClientCompatible.PCRs(pcrs...)},
	}}
}

// Command codes and what TPM2_PolicyCounterTimer compares (TPM 2.0 Library part 2 section 6.5.2,
// part 3 sections 23.7 and 23.10).
const (
	ccPolicyPCR          uint32 = 0x0000017f
	ccPolicyCounterTimer uint32 = 0x0000016d
	// ResetsOffset is where resetCount is in TPMS_TIME_INFO: after time and clock, of 8 bytes each.
	ResetsOffset uint16 = 16
	// Equal is TPM_EO_EQ.
	Equal uint16 = 0x0000
)

// digest is the policy's digest, by SHA-256.
func (p Policy) digest() ([]byte, error) {
	const op = "seal to TPM"
	if _, proof := p.Bank.Hash(); !proof || len(p.Values) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the policy has %d PCRs of %s", len(p.Values), p.Bank)
	}
	values := sha256.New()
	for _, pcr := range slices.Sorted(maps.Keys(p.Values)) {
		if pcr < 0 || pcr > maxPCR || len(p.Values[pcr]) != p.Bank.Size() {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "PCR %d of the policy has %d bytes", pcr, len(p.Values[pcr]))
		}
		values.Write(p.Values[pcr])
	}
	be := binary.BigEndian
	digest := make([]byte, sha256.Size)
	extend := func(parts ...[]byte) {
		sum := sha256.Sum256(append(digest, slices.Concat(parts...)...))
		digest = sum[:]
	}
	extend(be.AppendUint32(nil, ccPolicyPCR), tpm2.Marshal(p.Selection()), values.Sum(nil))
	if p.Resets != nil {
		args := sha256.Sum256(be.AppendUint16(be.AppendUint16(be.AppendUint32(nil, *p.Resets), ResetsOffset), Equal))
		extend(be.AppendUint32(nil, ccPolicyCounterTimer), args[:])
	}
	return digest, nil
}
