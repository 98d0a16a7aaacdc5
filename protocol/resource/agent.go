package resource

import (
	"slices"
	"time"

	"rackboot/protocol"
)

// Agent is one agent that has joined. The hub makes it.
type Agent struct {
	Header
	Spec   AgentSpec   `json:"spec"`
	Status AgentStatus `json:"status,omitzero"`
}

// AgentSpec is what joining fixed.
type AgentSpec struct {
	RackRef Ref `json:"rackRef"`
	// Key is the agent's Ed25519 public key; reports are signed with it.
	Key []byte `json:"key"`
	// Term is the fence term; a document with a lower one is refused.
	Term uint64 `json:"term"`
	// SealKey is the agent's X25519 public key, for which secrets are sealed. It came
	// with the join, a renewal or a Hello; empty until then.
	SealKey []byte `json:"sealKey,omitempty"`
}

// AgentRole is what an agent is to its rack.
type AgentRole string

// The roles. One whose term is over, or of which nothing is on record, has none.
const (
	RoleActive  AgentRole = "active"
	RoleStandby AgentRole = "standby"
)

// AgentStatus is filled from the mirror of reports when it is printed.
type AgentStatus struct {
	// Order is the last to run another release. It is stored.
	Order       *AgentOrder `json:"order,omitempty"`
	Role        AgentRole   `json:"role,omitempty"`
	LastReport  *time.Time  `json:"lastReport,omitempty"`
	Incarnation string      `json:"incarnation,omitempty"`
	Version     string      `json:"version,omitempty"`
	// Metrics is where the agent says that others reach its metrics page, as host:port; empty is nowhere, or not said.
	Metrics string `json:"metrics,omitempty"`
	// Applied are the documents that the agent has on disk.
	Applied map[string]protocol.Head `json:"applied,omitempty"`
	// Sent are the documents that the hub wants it to have.
	Sent       map[string]protocol.Head `json:"sent,omitempty"`
	Conditions []ConditionState         `json:"conditions,omitempty"`
	// Runs are the agents of one disk that were heard, where there are more than one; see
	// AgentCopied.
	Runs []AgentRun `json:"runs,omitempty"`
}

// AgentRun is one of several agents that have the same disk.
type AgentRun struct {
	Run string `json:"run"` // random, new for each start of the agent
	// Self is what it calls itself since it stands aside, also after a restart; empty before.
	Self        string   `json:"self,omitempty"`
	Incarnation string   `json:"incarnation"`
	Host        string   `json:"host,omitempty"`
	Addresses   []string `json:"addresses,omitempty"`
	Version     string   `json:"version,omitempty"`
	// First and Last are when it was heard.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Kept says that somebody said that it goes on.
	Kept bool `json:"kept,omitempty"`
}

// Same reports whether both say the same.
func (r AgentRun) Same(o AgentRun) bool {
	return r.Run == o.Run && r.Self == o.Self && r.Incarnation == o.Incarnation && r.Host == o.Host && slices.Equal(r.Addresses, o.Addresses) &&
		r.Version == o.Version && r.First.Equal(o.First) && r.Last.Equal(o.Last)
}

// Default sets kind and version.
func (a *Agent) Default() { a.APIVersion, a.Kind = APIVersion, KindAgent }

// References names the rack.
func (a *Agent) References() []Reference {
	return []Reference{{"spec.rackRef.name", KindRack, a.Spec.RackRef.Name}}
}

// Validate reports wrong fields.
func (a *Agent) Validate() protocol.FieldErrors {
	var f fields
	a.check(&f)
	if len(a.Spec.Key) != 32 {
		f.Add("spec.key", "is not an Ed25519 public key")
	}
	if n := len(a.Spec.SealKey); n != 0 && n != SealKeySize {
		f.Add("spec.sealKey", "is not an X25519 public key")
	}
	return f.FieldErrors
}

// SealKeySize is the length of a SealKey in bytes (RFC 7748).
const SealKeySize = 32
