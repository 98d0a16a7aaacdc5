package resource

import (
	"fmt"
	"time"

	"rackboot/protocol"
)

// Freeze keeps servers from being switched on, restarted or armed while it lies: those of a rack, those of some labels, or
// all. What runs is left, an installation that is under way goes on, and holds, releases, receipts, and stops that
// somebody asks for go on. It ends when it is deleted, or by its time. An agent keeps it, and ends it, without the hub.
type Freeze struct {
	Header
	Spec   FreezeSpec   `json:"spec"`
	Status FreezeStatus `json:"status,omitzero"`
}

// FreezeSpec is what is frozen. Exactly one of RackRef, ServerSelector and All is given.
type FreezeSpec struct {
	RackRef *Ref `json:"rackRef,omitempty"`
	// ServerSelector selects servers by their labels.
	ServerSelector *Selector `json:"serverSelector,omitempty"`
	All            bool      `json:"all,omitempty"`
	Reason         string    `json:"reason"`
	// Until is when it ends by itself; nil is never.
	Until *time.Time `json:"until,omitempty"`
}

// FreezeStatus is what the hub adds. Only By is stored.
type FreezeStatus struct {
	// By is who froze them.
	By string `json:"by,omitempty"`
	// Servers counts those that it is of now; Over says that its time has passed.
	Servers int  `json:"servers"`
	Over    bool `json:"over,omitempty"`
	// Told are those of Servers whose agents say that they are frozen.
	Told int `json:"told"`
}

// Frozen is a freeze as it travels to an agent, of one server. Of several the one that ends last travels.
type Frozen struct {
	Name   string     `json:"name"`
	By     string     `json:"by"`
	Reason string     `json:"reason"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"until,omitempty"`
}

// maxFreezeReason bounds the reason, in bytes.
const maxFreezeReason = 1024

// Default sets kind and version.
func (z *Freeze) Default() { z.APIVersion, z.Kind = APIVersion, KindFreeze }

// References names the rack.
func (z *Freeze) References() []Reference {
	if z.Spec.RackRef == nil {
		return nil
	}
	return []Reference{{"spec.rackRef.name", KindRack, z.Spec.RackRef.Name}}
}

// Validate reports wrong fields.
func (z *Freeze) Validate() protocol.FieldErrors {
	var f fields
	z.check(&f)
	given := 0
	if r := z.Spec.RackRef; r != nil {
		given++
		f.name("spec.rackRef.name", r.Name)
	}
	if s := z.Spec.ServerSelector; s != nil {
		given++
		s.check(&f, "spec.serverSelector", "give all: true to freeze every server")
	}
	if z.Spec.All {
		given++
	}
	if given != 1 {
		f.Add("spec", "give exactly one of rackRef, serverSelector and all")
	}
	if n := len(z.Spec.Reason); n == 0 || n > maxFreezeReason {
		f.Add("spec.reason", "has %d bytes; give 1 to %d: whoever waits for the servers wants to know why", n, maxFreezeReason)
	}
	return f.FieldErrors
}

// Lies reports whether a freeze lies at a time.
func (z *Frozen) Lies(at time.Time) bool { return z != nil && (z.Until == nil || at.Before(*z.Until)) }

// Text says why, by whom and until when.
func (z *Frozen) Text() string {
	until := "until somebody ends it"
	if z.Until != nil {
		until = "until " + z.Until.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("freeze %s by %s, %s: %s", z.Name, z.By, until, z.Reason)
}
