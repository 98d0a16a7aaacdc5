package attest

import (
	"slices"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/pehash"
	"rackboot/netboot/attest/tpmkey"
)

// Enrolment is what is known of a server's TPM.
type Enrolment struct {
	Endorsement *tpmkey.Key // for which secrets are sealed
	Attestation *tpmkey.Key // which signs quotes; see package enrol
}

// Evidence is what a server sent.
type Evidence struct {
	Quote     []byte         `json:"quote"`            // TPMS_ATTEST
	Signature []byte         `json:"signature"`        // TPMT_SIGNATURE
	PCRs      map[int][]byte `json:"pcrs"`             // the values that were quoted; of 16 to 23 no log says anything
	Log       []byte         `json:"log"`              // the event log
	Phases    []string       `json:"phases,omitempty"` // what systemd measured into PCR 11 since the log ended, in its order
}

// Item is something whose digest a PCR is expected to be extended by.
type Item struct {
	Name     string // for people
	Digest   []byte
	Optional bool // it may be absent
}

// Expectation is what a server is to have booted. Digests are of its bank.
type Expectation struct {
	Nonce []byte // that the quote was asked with
	Bank  eventlog.Algorithm
	// SecureBoot demands that Secure Boot was on.
	SecureBoot bool
	// Authorities are the digests of the events EV_EFI_VARIABLE_AUTHORITY that PCR 7 may have:
	// the entries of db, and of shim, by which signatures were verified. nil allows any, also keys
	// that somebody enrolled in setup. They are judged only with SecureBoot.
	Authorities []Item
	// BootOption is the digest of the EFI_LOAD_OPTION that has to be among the measured ones; nil
	// allows any.
	BootOption []byte
	// Images are the Authenticode hashes of what firmware starts, in order. An image that is
	// measured twice in a row counts once. There has to be one at least.
	Images []Item
	// Sections are those of a unified kernel image, see pehash.Unified. With nil, PCRs 11 to 13
	// are not judged.
	Sections []pehash.Measured
	// Phases are the words that systemd may have measured after the stub, from the first on
	// (systemd-pcrphase: enter-initrd, leave-initrd, sysinit, ready).
	Phases []string
	// Parameters are the command lines that PCR 12 may be extended by; nil allows none.
	Parameters []Item
	// Commands and Files are those of PCR 8 and PCR 9, in any order. With nil, the PCR is not
	// judged: GRUB's initrd is in PCR 9 only.
	Commands, Files []Item
}

// PCRs returns the PCRs that a quote has to be of, in ascending order.
func (x Expectation) PCRs() []int {
	out := []int{4}
	add := func(judged bool, pcrs ...int) {
		if judged {
			out = append(out, pcrs...)
		}
	}
	add(x.BootOption != nil, 1)
	add(x.SecureBoot, 7)
	add(x.Commands != nil, 8)
	add(x.Files != nil, 9)
	add(x.Sections != nil, 11, 12, 13)
	slices.Sort(out)
	return out
}
