package boot

import (
	"encoding/json"
	"sync"

	"rackboot/agent/tpm"
	"rackboot/netboot"
	"rackboot/netboot/attest"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state/blob"
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

// maxExpected bounds what is known of images; a rack's discoveries have one or two.
const maxExpected = 16

// expected is what images are known to be measured as. To find it reads them whole, one at a time.
type expected struct {
	mu   sync.Mutex
	made map[string]attest.Expectation // by digest
}

// of is what the server of an attempt is to have booted; why says by code that it is not known.
func (e *expected) of(blobs *blob.Store, a *decide.Attempt) (x attest.Expectation, why attest.Code, err error) {
	c := a.Order.Chain
	if c == nil || c.Kind != protocol.ChainUKI {
		return x, tpm.OtherChain, nil
	}
	digest, ok := c.Digest(c.First)
	if !ok {
		return x, tpm.OtherChain, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if x, ok := e.made[digest]; ok {
		return x, "", nil
	}
	f, size, err := blobs.Open(digest)
	if err != nil {
		return x, "", protocol.Errorf(protocol.CodeUnavailable, "attest boot", "%w", err)
	}
	defer f.Close()
	x, err = attest.OfUnified(f, size)
	switch protocol.CodeOf(err) {
	case protocol.CodeInvalid, protocol.CodeUnsupported:
		return attest.Expectation{}, tpm.UnfitImage, nil
	default:
		if err != nil {
			return attest.Expectation{}, "", protocol.Errorf(protocol.CodeUnavailable, "attest boot", "%w", err)
		}
	}
	if len(e.made) >= maxExpected || e.made == nil {
		e.made = map[string]attest.Expectation{}
	}
	e.made[digest] = x
	return x, "", nil
}

var _ netboot.Attestation = (*segment)(nil)
