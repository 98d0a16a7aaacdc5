package netboot

// AttestPath precedes the steps of attesting a boot below its base URL; docs/guide/attest.md.
const AttestPath = "attest/"

// AttestStep is a step of attesting a boot.
type AttestStep string

// The steps.
const (
	AttestAsk   AttestStep = "ask"   // the machine asks what to quote, and with which nonce
	AttestProve AttestStep = "prove" // it sends the quote, and the event log
)

// MaxAttest bounds what a step says, in bytes of JSON.
const MaxAttest = 512 << 10

// Attestation takes what the TPMs of booted images prove.
type Attestation interface {
	// Attest is as [Enrolment.Enrol]; refused is the code of why the boot is not attested.
	Attest(token string, step AttestStep, body []byte) (answer []byte, refused string, err error)
}
