package tpm

import "rackboot/netboot/attest/enrol"

// Refusal is why a TPM is not enrolled; empty that it is.
type Refusal string

// The refusals. Whoever shows one makes a text of its code.
const (
	NoRefusal    Refusal = ""
	NoIdentity   Refusal = "no-identity"  // the server's BMC has shown none, or another one than before
	UnfitKey     Refusal = "unfit-key"    // a key must not be what it is offered as; see enrol.Fault
	Certificate  Refusal = "certificate"  // it speaks against the endorsement key; see enrol.Origin
	OtherTPM     Refusal = "other-tpm"    // another one is enrolled for the server
	OtherServer  Refusal = "other-server" // it is enrolled for another server
	Busy         Refusal = "busy"         // too many challenges wait for their answers
	NoChallenge  Refusal = "no-challenge" // none waits for the answer, or not any more
	WrongAnswer  Refusal = "wrong-answer" // the TPM has not both keys
	ServerGone   Refusal = "server-gone"  // the rack has the server no more
	Unchallenged Refusal = "unchallenged" // no challenge can be made for the keys
)

// Refusals lists the refusals.
func Refusals() []Refusal {
	return []Refusal{NoIdentity, UnfitKey, Certificate, OtherTPM, OtherServer, Busy, NoChallenge, WrongAnswer, ServerGone, Unchallenged}
}

// facts are what the rule sees of an offer.
type facts struct {
	server   bool // the rack has it
	identity bool // its BMC has shown one, and no other since
	fit      bool // the keys may be what they are offered as
	origin   enrol.Origin
	other    bool // another TPM is enrolled for this server with this identity
	taken    bool // it is enrolled for another server of the rack
}

// refusalOf is the rule of offers, and again of answers. The first row that fits decides.
//
//	server | identity | fit | certificate | other | taken | refusal
//	no     | *        | *   | *           | *     | *     | server-gone
//	yes    | no       | *   | *           | *     | *     | no-identity
//	yes    | yes      | no  | *           | *     | *     | unfit-key
//	yes    | yes      | yes | refused     | *     | *     | certificate
//	yes    | yes      | yes | not refused | yes   | *     | other-tpm
//	yes    | yes      | yes | not refused | no    | yes   | other-server
//	yes    | yes      | yes | not refused | no    | no    | none
func refusalOf(f facts) Refusal {
	switch {
	case !f.server:
		return ServerGone
	case !f.identity:
		return NoIdentity
	case !f.fit:
		return UnfitKey
	case f.origin.Refused():
		return Certificate
	case f.other:
		return OtherTPM
	case f.taken:
		return OtherServer
	}
	return NoRefusal
}
