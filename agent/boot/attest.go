package boot

import (
	"encoding/json"

	"rackboot/netboot"
	"rackboot/netboot/attest"
)

// Attest implements netboot.Attestation. Who may enrol a TPM may prove by it.
func (b *segment) Attest(token string, step netboot.AttestStep, body []byte) (answer []byte, refused string, err error) {
	server, a, refused, err := b.admit("attest boot", token)
	if err != nil || refused != "" {
		return nil, refused, err
	}
	if step == netboot.AttestAsk {
		ask, err := b.room.cfg.TPMs.Ask(server, token)
		if err != nil {
			return nil, "", err
		}
		answer, err = json.Marshal(ask)
		return answer, "", err
	}
	ev, err := attest.DecodeEvidence(body)
	if err != nil {
		return nil, "", err
	}
	x, why, err := b.room.expected.of(b.room.cfg.Blobs, a)
	if err != nil {
		return nil, "", err
	}
	if why != "" {
		b.room.cfg.TPMs.Doubt(server, token, why)
		return nil, string(why), nil
	}
	why, err = b.room.cfg.TPMs.Prove(server, token, ev, x)
	return nil, string(why), err
}

var _ netboot.Attestation = (*segment)(nil)
