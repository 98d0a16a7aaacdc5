package boot

import (
	"encoding/json"

	"rackboot/agent/tpm"
	"rackboot/netboot"
	"rackboot/netboot/attest/enrol"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// admit judges who has a token and says something of a TPM. The address says nothing here: the token does, see
// [decide.Enrol].
func (b *segment) admit(op, token string) (server string, a *decide.Attempt, refused string, err error) {
	server, e, ok := b.room.index.token(token)
	verdict := decide.EnrolUnknown
	if ok {
		e.attempt = b.room.index.disputed(server, e.attempt)
		verdict = decide.Enrol(e.held, e.missing, e.attempt, token, b.sealed)
	}
	b.room.met.enrolments.WithLabelValues(string(verdict)).Inc()
	switch verdict {
	case decide.EnrolTake:
	case decide.EnrolUnknown:
		return "", nil, "", protocol.Errorf(protocol.CodeNotFound, op, "unknown token")
	case decide.EnrolEarly:
		return "", nil, "", protocol.Errorf(protocol.CodeUnavailable, op, "%s cannot run its image yet", server)
	case decide.EnrolHeld, decide.EnrolImage, decide.EnrolSegment, decide.EnrolOpenly, decide.EnrolTwo:
		return "", nil, string(verdict), nil
	}
	return server, e.attempt, "", nil
}

// Enrol implements netboot.Enrolment.
func (b *segment) Enrol(token string, step netboot.EnrolStep, body []byte) (answer []byte, refused string, err error) {
	server, _, refused, err := b.admit("enrol TPM", token)
	if err != nil || refused != "" {
		return nil, refused, err
	}
	if step == netboot.EnrolAnswer {
		a, err := enrol.DecodeAnswer(body)
		if err != nil {
			return nil, "", err
		}
		why, err := b.room.cfg.TPMs.Answer(server, token, a)
		return nil, string(why), err
	}
	o, err := enrol.DecodeOffer(body)
	if err != nil {
		return nil, "", err
	}
	ch, why, err := b.room.cfg.TPMs.Offer(server, token, o)
	if err != nil || why != tpm.NoRefusal {
		return nil, string(why), err
	}
	answer, err = json.Marshal(ch)
	return answer, "", err
}

var _ netboot.Enrolment = (*segment)(nil)
