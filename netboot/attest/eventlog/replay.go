package eventlog

import (
	"bytes"

	"rackboot/protocol"
)

// MaxReplayed is the last PCR that is replayed. Only a reset of the platform resets PCRs 0 to 15;
// software that runs on it, or a late launch, resets 16 to 23
// (PC Client Platform TPM Profile 1.06 section 4.6).
const MaxReplayed = 15

// PCRs are the values of PCRs 0 to 15 of one bank. A PCR that nothing extended has the value that
// it has after a reset.
type PCRs [MaxReplayed + 1][]byte

// localityPrefix begins the data of the EV_NO_ACTION event that says from which locality
// the TPM was started (PFP 1.06 section 10.4.5.3).
const localityPrefix = "StartupLocality\x00"

// Replay computes the PCRs of a bank from the digests of the log. The error has the code
// unsupported for a bank that is no proof or that the log does not have, and invalid for a
// log that contradicts itself about the locality.
func (l *Log) Replay(bank Algorithm) (PCRs, error) {
	const op = "replay event log"
	h, proof := bank.Hash()
	if !proof {
		return PCRs{}, protocol.Errorf(protocol.CodeUnsupported, op, "PCRs of %s prove nothing", bank)
	}
	if !l.has(bank) {
		return PCRs{}, protocol.Errorf(protocol.CodeUnsupported, op, "the event log has no digests of %s", bank)
	}
	var values PCRs
	for i := range values {
		values[i] = make([]byte, bank.Size())
	}
	begun, said := false, false // PCR 0 was extended, its locality was said
	hash := h.New()
	for _, e := range l.Events {
		if locality, ok := e.startupLocality(); ok {
			if begun || said {
				return PCRs{}, protocol.Errorf(protocol.CodeInvalid, op, "the event log says late or twice from which locality the TPM was started")
			}
			said = true
			values[0][bank.Size()-1] = locality
		}
		if !e.Extended() || e.PCR > MaxReplayed {
			continue
		}
		begun = begun || e.PCR == 0
		hash.Reset()
		hash.Write(values[e.PCR])
		hash.Write(e.Digest(bank))
		values[e.PCR] = hash.Sum(values[e.PCR][:0])
	}
	return values, nil
}

// startupLocality is the locality that the event says the TPM was started from: it is the
// last byte of PCR 0 before anything extends it.
func (e Event) startupLocality() (uint8, bool) {
	if e.Type != NoAction || !bytes.HasPrefix(e.Data, []byte(localityPrefix)) || len(e.Data) != len(localityPrefix)+1 {
		return 0, false
	}
	return e.Data[len(localityPrefix)], true
}
