package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Attempt is one power-on.
type Attempt struct {
	ID    string `json:"id"`
	Token string `json:"token"` // in boot URLs; never printed
	// Private is the token that goes through the BMC only, where the boot needs one; never
	// printed either.
	Private string `json:"private,omitempty"`
	// At is when the attempt began.
	At     time.Time `json:"at"`
	Number int       `json:"number"`
	Order  Order     `json:"order"`
	Stage  Stage     `json:"stage"`
	Marks  Marks     `json:"marks,omitzero"`
	// Claimants are the boot clients that said they are its server.
	Claimants Claimants `json:"claimants,omitzero"`
}

// IsLast says whether a file is the last, by whichever way it is fetched.
func (a *Attempt) IsLast(name string) bool {
	if c := a.Order.Chain; c != nil {
		return c.IsLast(name)
	}
	return name == a.Order.File
}

// ByURL reports whether firmware has the URL of its file from its BMC.
func (a *Attempt) ByURL() bool { return a.Order.URI && !a.Stage.Arming.Plain }

// Network says whether the attempt boots from the network.
func (a *Attempt) Network() bool {
	return a.Order.Target != protocol.TargetHdd && a.Order.Target != protocol.TargetSetup
}

// fromWhere is what an attempt boots that does not boot from the network, for people.
func (a *Attempt) fromWhere() string {
	if a.Order.Target == protocol.TargetSetup {
		return "power-on into the firmware's menus"
	}
	return "boot from disk"
}

// Open says whether the attempt has not ended.
func (a *Attempt) Open() bool {
	return a != nil && a.Stage.State != resource.AttemptSucceeded && a.Stage.State != resource.AttemptFailed
}

// Awaits says whether firmware is to ask for the boot now: it is one from the network, and an
// On was sent or is about to be.
func (a *Attempt) Awaits() bool {
	return a.Open() && a.Network() && a.Stage.State != resource.AttemptPreparing && a.Stage.State != resource.AttemptArmed
}

// unconfirmed says whether the effect of an On was neither seen, nor refused, nor waited out.
func (a *Attempt) unconfirmed() bool {
	return a != nil && !a.Stage.PowerOn.Pending.IsZero() && a.Stage.PowerOn.Waited == 0
}
