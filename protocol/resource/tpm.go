package resource

import "time"

// TPMReport is the TPM that is enrolled for a server, as its agent has it.
type TPMReport struct {
	// Enrolment names this enrolment: what rackctl server re-enrol was shown. The same TPM enrolled
	// anew has another one.
	Enrolment string `json:"enrolment"`
	// Endorsement is the digest of the public area of its endorsement key.
	Endorsement string    `json:"endorsement"`
	Origin      TPMOrigin `json:"origin"`
	At          time.Time `json:"at"`        // when it was enrolled, by the agent's clock
	ServerUID   string    `json:"serverUID"` // of the Server that it was enrolled for
	// Void says that the BMC shows another board than when it was enrolled: it counts for nothing, and
	// the next discovery enrols the one that the board has.
	Void bool `json:"void,omitempty"`
	// Other is another TPM that a discovery offered since; nil is none.
	Other *OtherTPM `json:"other,omitempty"`
}

// OtherTPM is a TPM that was offered for a server that has another one enrolled.
type OtherTPM struct {
	Endorsement string    `json:"endorsement"`
	At          time.Time `json:"at"` // when it was offered first, by the agent's clock
}

// TPMOrigin says who vouches for a TPM.
type TPMOrigin string

// The origins of TPMs that are enrolled.
const (
	TPMVouched       TPMOrigin = "vouched"        // an authority of the agent's file
	TPMNoCertificate TPMOrigin = "no-certificate" // nobody: the TPM has none
	TPMNoAuthority   TPMOrigin = "no-authority"   // nobody: the agent has no such file
)

// CodeOtherTPM begins the message of IdentityChanged where it is the TPM that changed.
const CodeOtherTPM = "other-tpm"
