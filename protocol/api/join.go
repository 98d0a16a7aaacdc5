package api

import "time"

// JoinToken lets one agent join a rack, once, until Expires. The token is a
// secret and is shown once.
type JoinToken struct {
	Token   string    `json:"token"`
	Rack    string    `json:"rack"`
	Expires time.Time `json:"expires"`
}

// JoinRequest is an agent's wish to join with a one-time token.
type JoinRequest struct {
	Token string `json:"token"`
	CSR   []byte `json:"csr"`  // PEM, for the certificate of the link
	Key   []byte `json:"key"`  // Ed25519 public key that reports are signed with
	Host  string `json:"host"` // the agent's host name, for people
}

// JoinAnswer is all that an agent needs to dial in.
type JoinAnswer struct {
	Agent       string `json:"agent"`
	Rack        string `json:"rack"`
	Term        uint64 `json:"term"`
	Certificate []byte `json:"certificate"` // PEM
	CA          []byte `json:"ca"`          // PEM, of the broker
	HubKey      []byte `json:"hubKey"`      // Ed25519 public key that signs documents
	Broker      string `json:"broker"`      // mqtts://host:port
	// QoS is that of the link: 0 or 1. A hub of before says nothing, which is 0.
	QoS byte `json:"qos,omitempty"`
}
