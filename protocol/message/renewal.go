package message

import "time"

// Renewal asks the hub for a new certificate, or, without a request for one, where
// the agent stands: what to trust, where to dial, whether its term is over. The agent
// signs it with the key that it joined with.
type Renewal struct {
	Agent string `json:"agent"`
	// CSR is a PKCS #10 request in PEM for the next certificate; empty asks for none.
	CSR []byte `json:"csr,omitempty"`
	// SealKey is the X25519 public key that secrets for the agent are sealed to.
	SealKey []byte `json:"sealKey,omitempty"`
	// Trust is the digest of what the agent trusts and dials by now.
	Trust string    `json:"trust,omitempty"`
	At    time.Time `json:"at"` // agent's clock, for people
}
