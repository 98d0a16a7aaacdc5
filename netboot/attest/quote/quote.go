package quote

import (
	"bytes"
	"crypto"
	"crypto/hmac"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/tpmkey"
	"rackboot/protocol"
)

// MaxSize bounds a quote, in bytes: one of all PCRs with SHA-512 has 240.
const MaxSize = 1024

// magic begins what only a TPM makes: a restricted key signs nothing else that begins so.
const magic = 0xff544347

// maxPCRs is how many PCRs a selection may name.
const maxPCRs = 24

// Quote is a read quote.
type Quote struct {
	Signer []byte // the signing key's qualified name
	Nonce  []byte // of who asked
	Bank   eventlog.Algorithm
	PCRs   []int  // that were quoted, in ascending order
	Digest []byte // of their values one after the other
	Clock  Clock
	// Firmware is the vendor's version of the TPM. If the signing key is in the owner's hierarchy, the
	// TPM adds secret numbers to it, to Resets and to Restarts (part 3 section 18.1): they can be
	// compared with each other, and are not the TPM's own.
	Firmware uint64
}

// Clock is a TPMS_CLOCK_INFO.
type Clock struct {
	Milliseconds uint64 // in which the TPM had power since it was last cleared
	Resets       uint32 // TPM resets: cold starts
	Restarts     uint32 // of the TPM since, as after hibernation
	Safe         bool   // Milliseconds was never higher than now
}

// Parse reads a TPMS_ATTEST that is a quote of one bank. The error has the code invalid, or
// unsupported for a quote of several banks, or of one that proves nothing.
func Parse(raw []byte) (Quote, error) {
	const op = "read quote"
	if len(raw) > MaxSize {
		return Quote{}, protocol.Errorf(protocol.CodeInvalid, op, "the quote has %d bytes; more than %d are not read", len(raw), MaxSize)
	}
	a, err := tpm2.Unmarshal[tpm2.TPMSAttest](raw)
	if err != nil {
		return Quote{}, protocol.Errorf(protocol.CodeInvalid, op, "the quote cannot be read: %w", err)
	}
	if a.Magic != magic || a.Type != tpm2.TPMSTAttestQuote {
		return Quote{}, protocol.Errorf(protocol.CodeInvalid, op, "what was sent is no quote: it begins with %08x %04x", uint32(a.Magic), uint16(a.Type))
	}
	if !bytes.Equal(tpm2.Marshal(*a), raw) {
		return Quote{}, protocol.Errorf(protocol.CodeInvalid, op, "the quote has more than one reading")
	}
	info, err := a.Attested.Quote()
	if err != nil {
		return Quote{}, protocol.Errorf(protocol.CodeInvalid, op, "the quote cannot be read: %w", err)
	}
	if n := len(info.PCRSelect.PCRSelections); n != 1 {
		return Quote{}, protocol.Errorf(protocol.CodeUnsupported, op, "the quote is of %d banks; ask for one", n)
	}
	selection := info.PCRSelect.PCRSelections[0]
	q := Quote{
		Signer: a.QualifiedSigner.Buffer, Nonce: a.ExtraData.Buffer, Bank: eventlog.Algorithm(selection.Hash), Digest: info.PCRDigest.Buffer,
		Clock:    Clock{a.ClockInfo.Clock, a.ClockInfo.ResetCount, a.ClockInfo.RestartCount, a.ClockInfo.Safe},
		Firmware: a.FirmwareVersion,
	}
	if _, proof := q.Bank.Hash(); !proof {
		return Quote{}, protocol.Errorf(protocol.CodeUnsupported, op, "the quote is of PCRs of %s, which prove nothing", q.Bank)
	}
	for i, b := range selection.PCRSelect {
		for bit := range 8 {
			if b&(1<<bit) == 0 {
				continue
			}
			if 8*i+bit >= maxPCRs {
				return Quote{}, protocol.Errorf(protocol.CodeInvalid, op, "the quote is of PCR %d, of which there are 0 to %d", 8*i+bit, maxPCRs-1)
			}
			q.PCRs = append(q.PCRs, 8*i+bit)
		}
	}
	return q, nil
}

// Asked reports whether the quote answers the one who chose the nonce. An empty nonce is
// nobody's.
func (q Quote) Asked(nonce []byte) bool {
	return len(nonce) > 0 && hmac.Equal(q.Nonce, nonce)
}

// Of reports whether the quote is of these values, by the hash that the signing key's scheme
// has (TPM 2.0 Library part 3 section 18.4). A quoted PCR without a value, or with one of
// another length than the bank's, is not.
func (q Quote) Of(values map[int][]byte, h crypto.Hash) bool {
	sum := h.New()
	for _, pcr := range q.PCRs {
		if len(values[pcr]) != q.Bank.Size() {
			return false
		}
		sum.Write(values[pcr])
	}
	return len(q.PCRs) > 0 && bytes.Equal(sum.Sum(nil), q.Digest)
}

// Signer says whose a quote is.
type Signer string

// Signers.
const (
	SignedByKey    Signer = "key"    // the key signed it
	SignedByOther  Signer = "other"  // another key did, which the quote names
	SignedByNobody Signer = "nobody" // it names the key, and the signature is not that
)

// SignedBy reports who signed the quote, of which raw are the bytes: the key, another key that the
// quote names, or nobody. A good signature counts whatever the quote names, because a restricted key
// says nothing false of itself.
func (q Quote) SignedBy(key *tpmkey.Key, raw, signature []byte) Signer {
	if key.Verify(raw, signature) == nil {
		return SignedByKey
	}
	for _, hierarchy := range []uint32{tpmkey.Endorsement, tpmkey.Owner} {
		if bytes.Equal(q.Signer, key.QualifiedName(hierarchy)) {
			return SignedByNobody
		}
	}
	return SignedByOther
}
