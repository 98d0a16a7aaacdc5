package netboot

// EnrolPath precedes the steps of enrolling a TPM below the base URL of a boot; docs/guide/attest.md.
const EnrolPath = "enrol/"

// EnrolStep is a step of enrolling a TPM.
type EnrolStep string

// The steps.
const (
	EnrolOffer  EnrolStep = "offer"  // the machine says its keys, and gets a challenge
	EnrolAnswer EnrolStep = "answer" // it answers that
)

// MaxEnrol bounds what a step says, in bytes of JSON.
const MaxEnrol = 24 << 10

// Enrolment takes the TPMs that booted images offer.
type Enrolment interface {
	// Enrol takes a step of who has a token, and returns what to answer in JSON. refused is the code
	// of why it is not taken; only who has a token of a running boot is told. What is on disk is there
	// when it returns. Errors: not_found for an unknown token, invalid for what cannot be read,
	// unavailable for what comes too soon, or cannot be kept now.
	Enrol(token string, step EnrolStep, body []byte) (answer []byte, refused string, err error)
}
