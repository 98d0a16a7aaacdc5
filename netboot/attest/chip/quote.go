package chip

import (
	"slices"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest"
	"rackboot/netboot/attest/enrol"
	"rackboot/protocol"
)

// maxReads bounds reading PCRs: a TPM gives eight at a time, and at least one.
const maxReads = 24

// Quote signs what is asked for by the attestation key of Offer, and returns it with the values; the log is the caller's.
// Errors: unavailable, also where the TPM has no such bank.
func (c *Chip) Quote(a attest.Ask) (attest.Evidence, error) {
	const op = "quote by the TPM"
	key, err := c.primary(enrol.AttestationTemplate())
	if err != nil {
		return attest.Evidence{}, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	defer c.release(key)
	rsp, err := tpm2.Quote{
		SignHandle:     tpm2.AuthHandle{Handle: key.Handle, Name: key.Name, Auth: tpm2.PasswordAuth(nil)},
		QualifyingData: tpm2.TPM2BData{Buffer: a.Nonce}, PCRSelect: selection(a, a.PCRs),
	}.Execute(c.tpm)
	if err != nil {
		return attest.Evidence{}, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	ev := attest.Evidence{Quote: rsp.Quoted.Bytes(), Signature: tpm2.Marshal(rsp.Signature), PCRs: map[int][]byte{}}
	for left, tries := slices.Sorted(slices.Values(a.PCRs)), 0; len(left) > 0; tries++ {
		at := left[:min(8, len(left))]
		read, err := tpm2.PCRRead{PCRSelectionIn: selection(a, at)}.Execute(c.tpm)
		if err != nil {
			return attest.Evidence{}, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
		}
		n := len(read.PCRValues.Digests)
		if n == 0 || n > len(at) || tries > maxReads {
			return attest.Evidence{}, protocol.Errorf(protocol.CodeUnavailable, op, "the TPM gives %d values of %d PCRs", n, len(at))
		}
		for i, d := range read.PCRValues.Digests { // in the order of PCRs
			ev.PCRs[at[i]] = d.Buffer
		}
		left = left[n:]
	}
	return ev, nil
}

func selection(a attest.Ask, pcrs []int) tpm2.TPMLPCRSelection {
	selected := make([]uint, 0, len(pcrs))
	for _, pcr := range pcrs {
		selected = append(selected, uint(pcr))
	}
	return tpm2.TPMLPCRSelection{PCRSelections: []tpm2.TPMSPCRSelection{{Hash: tpm2.TPMIAlgHash(a.Bank), PCRSelect: tpm2.PCClientCompatible.PCRs(selected...)}}}
}
