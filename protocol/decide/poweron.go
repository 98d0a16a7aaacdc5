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
	// At is when the attempt began.
	At     time.Time `json:"at"`
	Number int       `json:"number"`
	Order  Order     `json:"order"`
	Stage  Stage     `json:"stage"`
	Marks  Marks     `json:"marks,omitzero"`
	// Served is on disk before the first byte of the last file is sent: from then on
	// the operating system may run.
	Served bool `json:"served,omitempty"`
	// Cached says that the BMC had read all of the medium before the power-on.
	Cached bool `json:"cached,omitempty"`
	// Assumed says that Fetched was assumed by Recover, and no event has said so yet.
	Assumed bool `json:"assumed,omitempty"`
	// Cleanup asks for a forced stop of what a failed network boot left running.
	Cleanup bool `json:"cleanup,omitempty"`
	// Given is on disk before the first byte of the user data is sent, Deliveries counts those
	// to the last byte.
	Given      bool `json:"given,omitempty"`
	Deliveries int  `json:"deliveries,omitempty"`
	// Refusals are the reasons for which the user data was refused to who had the token.
	Refusals []IgnitionVerdict `json:"refusals,omitempty"`
	// Left is the target of an earlier attempt whose override may still be armed.
	Left protocol.BootTarget `json:"left,omitempty"`
	// Way is how the override is cleared now.
	Way DisarmWay `json:"way,omitempty"`
	// Disarm asks for the override to be cleared, because nothing consumed it.
	Disarm bool `json:"disarm,omitempty"`
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
func (a *Attempt) Network() bool { return a.Order.Target != protocol.TargetHdd }

// Open says whether the attempt has not ended.
func (a *Attempt) Open() bool {
	return a != nil && a.Stage.State != resource.AttemptSucceeded && a.Stage.State != resource.AttemptFailed
}

// Marks are the moments of an attempt between which its parts lie; zero is not come to.
type Marks struct {
	Written time.Time `json:"written,omitzero"`
	Armed   time.Time `json:"armed,omitzero"`
	Asked   time.Time `json:"asked,omitzero"`
	Fetched time.Time `json:"fetched,omitzero"`
}
