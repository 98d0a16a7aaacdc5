package rollout

import (
	"cmp"
	"time"

	"rackboot/protocol/resource"
)

// Input is everything that a step depends on.
type Input struct {
	// Now is the time, in the zone of the windows: see [resource.RolloutSpec.Local].
	Now    time.Time
	Spec   resource.RolloutSpec
	Status resource.RolloutStatus
	// Servers are the group's, each once, in any order.
	Servers []Server
	// Stamped says that the revision is valid for more than canaries: its entry is, or servers of
	// the group have booted the revision already.
	Stamped bool
	// Approved says whether a server may be installed anew by this roll-out; nil approves
	// none.
	Approved func(server string) bool
	// Words are how people call the members and what becomes of them; zero is those of servers.
	Words Words
}

// Words are for the texts of a roll-out. They decide nothing.
type Words struct {
	Members string // such as servers
	Boots   string // such as boot the revision
}

func (w Words) members() string { return cmp.Or(w.Members, "servers") }
func (w Words) boots() string   { return cmp.Or(w.Boots, "boot the revision") }

// OrderKind is what is to be done with a server.
type OrderKind string

// The kinds.
const (
	OrderReboot      OrderKind = "Reboot"      // soft, into the revision
	OrderReprovision OrderKind = "Reprovision" // configured anew with a grant: its disk is lost
	// OrderReturn takes it to the revision before, by the strategy's way.
	OrderReturn OrderKind = "Return"
)

// Order is one thing to be done. Server, Kind and At name it.
type Order struct {
	Server string
	Kind   OrderKind
	At     time.Time
}

// Result is what follows from an input.
type Result struct {
	Status resource.RolloutStatus
	Orders []Order
	// Stamp is the server whose proved boot may stamp the entry, said until Stamped.
	Stamp string
	// RollBack says in every step of a roll-out that is RolledBack that the revision
	// before is to be current again, as a copy. The copy needs no roll-out of its own:
	// this one returns its servers.
	RollBack bool
	// Unapproved are the servers that would be begun, or returned, but for an approval.
	Unapproved []string
	// RecheckAt is when the next step has something to do if nothing changes before; zero
	// is never.
	RecheckAt time.Time
	// Message says for people how far it is and what it waits for.
	Message string
}
