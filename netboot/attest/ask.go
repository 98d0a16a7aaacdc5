package attest

import (
	"encoding/json"

	"rackboot/netboot/attest/eventlog"
	"rackboot/protocol"
)

const (
	// MaxMessage bounds what is asked, and evidence, in bytes of JSON.
	MaxMessage = 512 << 10
	// maxPCRs and maxPhases bound lists in it.
	maxPCRs   = 24
	maxPhases = 16
)

// Ask is what a machine is asked to quote.
type Ask struct {
	Nonce []byte             `json:"nonce"`
	Bank  eventlog.Algorithm `json:"bank"` // TPM_ALG_ID
	PCRs  []int              `json:"pcrs"`
}

// AskFor is what is asked with a nonce: all of which firmware's log says something, but for PCR 10, into which Linux measures.
func AskFor(nonce []byte) Ask {
	return Ask{Nonce: nonce, Bank: eventlog.SHA256, PCRs: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15}}
}

// DecodeAsk reads what is asked. The error is invalid.
func DecodeAsk(raw []byte) (Ask, error) {
	const op = "read what is to be quoted"
	a, err := decode[Ask](op, raw)
	if err != nil {
		return a, err
	}
	wrong := len(a.Nonce) == 0 || len(a.Nonce) > 64 || len(a.PCRs) == 0 || len(a.PCRs) > maxPCRs
	for _, pcr := range a.PCRs {
		wrong = wrong || pcr < 0 || pcr >= maxPCRs
	}
	if wrong {
		return Ask{}, protocol.Errorf(protocol.CodeInvalid, op, "a nonce of %d bytes for %d PCRs", len(a.Nonce), len(a.PCRs))
	}
	return a, nil
}

// DecodeEvidence reads evidence. Nothing of it is proved. The error is invalid.
func DecodeEvidence(raw []byte) (Evidence, error) {
	const op = "read what a TPM proves"
	ev, err := decode[Evidence](op, raw)
	if err == nil && (len(ev.PCRs) > maxPCRs || len(ev.Phases) > maxPhases) {
		return Evidence{}, protocol.Errorf(protocol.CodeInvalid, op, "%d PCRs and %d phases", len(ev.PCRs), len(ev.Phases))
	}
	return ev, err
}

// decode reads JSON. Fields that are not known are passed over: an image may be newer than the agent.
func decode[T any](op string, raw []byte) (out T, err error) {
	var none T
	if len(raw) > MaxMessage {
		return none, protocol.Errorf(protocol.CodeInvalid, op, "%d bytes, at most %d", len(raw), MaxMessage)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return none, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	return out, nil
}
