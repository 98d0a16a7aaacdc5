package boot

import (
	"sync"

	"rackboot/agent/tpm"
	"rackboot/netboot/attest"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state/blob"
)

// maxExpected bounds what is known of images; a rack's discoveries have one or two.
const maxExpected = 16

// expected is what images are known to be measured as. To find it reads them whole, one at a time.
type expected struct {
	mu   sync.Mutex
	made map[string]attest.Expectation // by digest
}

// of is what the server of an attempt is to have booted; why says by code that it is not known.
func (e *expected) of(blobs *blob.Store, a *decide.Attempt) (x attest.Expectation, why attest.Code, err error) {
	if a.Order.Chain == nil {
		return x, tpm.OtherChain, nil
	}
	digest, ok := a.Order.Chain.Unified()
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
