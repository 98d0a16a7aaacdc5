package resource

import (
	"time"

	"rackboot/protocol"
)

// AgentUpgrade has the agents of racks run another release of themselves, in waves as a group's new image reaches its
// servers: each rack's active agent is a member. An agent takes only what a key of its own file signed.
//
// A rack follows the newest AgentUpgrade that selects it; the older ones leave it out from then on.
type AgentUpgrade struct {
	Header
	Spec   AgentUpgradeSpec   `json:"spec"`
	Status AgentUpgradeStatus `json:"status,omitzero"`
}

// AgentUpgradeSpec is which release, where, and how.
type AgentUpgradeSpec struct {
	// Package is the digest of the signed manifest of an uploaded package, as rackctl agent-package push prints it.
	Package string `json:"package"`
	// Racks selects racks by their labels; nil is all.
	Racks *Selector `json:"racks,omitempty"`
	// Rollout is how the package reaches them. Strategy, freeze of single servers and fallbackAfter are not for agents.
	// Deadline is from the order to an agent's being answered by the hub with the new release, by default 10m; Soak how
	// long it must stay so then, by default 10m. MaxUnavailable and MaxFailures count racks.
	Rollout RolloutSpec `json:"rollout,omitzero"`
}

// AgentUpgradeStatus is what the hub adds.
type AgentUpgradeStatus struct {
	// Package is that of Rollout, and Version its release. Stored.
	Package string `json:"package,omitempty"`
	Version string `json:"version,omitempty"`
	// Rollout is the roll-out under way, or the last one, by rack. It is stored.
	Rollout *RolloutStatus `json:"rollout,omitempty"`
	// Message says how far it is. It is not stored.
	Message    string           `json:"message,omitempty"`
	Conditions []ConditionState `json:"conditions,omitempty"`
}

// The kinds of orders to agents.
const (
	AgentOrderUpgrade = "Upgrade"
	AgentOrderReturn  = "Return" // to the release before
)

// AgentOrder is the last order to an agent to run another release, with what was heard of it. It is stored.
type AgentOrder struct {
	ID      string `json:"id"`
	Upgrade string `json:"upgrade"` // the name of the AgentUpgrade
	UID     string `json:"uid"`     // and its UID
	Kind    string `json:"kind"`    // Upgrade, Return
	Package string `json:"package"`
	// At is when it was given, by the roll-out; not begun after NotAfter.
	At       time.Time `json:"at"`
	NotAfter time.Time `json:"notAfter"`
	// Before is the digest of the program that ran when it was given first; a return goes back to its package.
	Before string `json:"before,omitempty"`
	// Stage and Code are what the agent said last of it, with Message for people; empty before it has said anything.
	Stage   string `json:"stage,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// EndedAt is when the hub heard of its end. Undone says that nothing was changed for it.
	EndedAt *time.Time `json:"endedAt,omitempty"`
	Undone  bool       `json:"undone,omitempty"`
}

// Open reports whether an order may still do something.
func (o *AgentOrder) Open() bool { return o != nil && o.EndedAt == nil }

// Default sets kind and version, and fills what is not given.
func (u *AgentUpgrade) Default() {
	u.APIVersion, u.Kind = APIVersion, KindAgentUpgrade
	if u.Spec.Rollout.Strategy == "" {
		u.Spec.Rollout.Strategy = RolloutReboot
	}
	setDuration(&u.Spec.Rollout.Deadline, agentUpgradeDeadline)
	u.Spec.Rollout.Default()
}

// agentUpgradeDeadline is enough for a download of one program by a slow line, and the agent's trial.
const agentUpgradeDeadline = 10 * time.Minute

// Validate reports wrong fields.
func (u *AgentUpgrade) Validate() protocol.FieldErrors {
	var f fields
	u.check(&f)
	if !protocol.ValidDigest(u.Spec.Package) {
		f.Add("spec.package", "is not sha256: and 64 lower-case hex digits; rackctl agent-package get lists the packages")
	}
	if s := u.Spec.Racks; s != nil {
		s.check(&f, "spec.racks", "leave racks out for all of them")
	}
	if s := u.Spec.Rollout.Strategy; s != "" && s != RolloutReboot {
		f.Add("spec.rollout.strategy", "%s is for servers; an agent is always restarted, so leave it out", s)
	}
	u.Spec.Rollout.check(&f, "spec.rollout", BootPolicy{Boot: BootNetwork})
	if u.Spec.Rollout.FallbackAfter != 0 {
		f.Add("spec.rollout.fallbackAfter", "is for servers; an agent's launcher returns by itself")
	}
	return f.FieldErrors
}

// Selects reports whether the upgrade is for a rack of some labels.
func (u *AgentUpgrade) Selects(labels map[string]string) bool {
	return u.Spec.Racks == nil || u.Spec.Racks.Matches(labels)
}
