package enrol

import (
	"encoding/json"

	"rackboot/netboot/attest/tpmkey"
	"rackboot/protocol"
)

// MaxMessage bounds an offer, a challenge and an answer, in bytes of JSON.
const MaxMessage = 24 << 10

// Offer is what a machine says of its TPM. Nothing of it is proved.
type Offer struct {
	Endorsement []byte `json:"endorsement"`           // TPMT_PUBLIC
	Certificate []byte `json:"certificate,omitempty"` // of the endorsement key, as it is in the TPM
	Attestation []byte `json:"attestation"`           // TPMT_PUBLIC
}

// Answer is what the TPM made of a challenge.
type Answer struct {
	Secret []byte `json:"secret"`
}

// DecodeOffer reads an offer. Fields that are not known are passed over: an image may be newer than
// the agent. The error is invalid.
func DecodeOffer(raw []byte) (Offer, error) { return decode[Offer]("read the offer of a TPM", raw) }

// DecodeChallenge reads a challenge, as DecodeOffer an offer.
func DecodeChallenge(raw []byte) (Challenge, error) {
	return decode[Challenge]("read the challenge of a TPM", raw)
}

// DecodeAnswer reads an answer, as DecodeOffer an offer.
func DecodeAnswer(raw []byte) (Answer, error) { return decode[Answer]("read the answer of a TPM", raw) }

func decode[T any](op string, raw []byte) (out T, err error) {
	if len(raw) > MaxMessage {
		return out, protocol.Errorf(protocol.CodeInvalid, op, "%d bytes, at most %d", len(raw), MaxMessage)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		var none T
		return none, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	return out, nil
}

// Keys reads the keys of an offer; it returns the fault of the first that cannot be one.
func (o Offer) Keys() (endorsement, attestation *tpmkey.Key, f Fault) {
	if endorsement, f = EndorsementKey(o.Endorsement); f != NoFault {
		return nil, nil, f
	}
	if attestation, f = AttestationKey(o.Attestation); f != NoFault {
		return nil, nil, f
	}
	return endorsement, attestation, NoFault
}
