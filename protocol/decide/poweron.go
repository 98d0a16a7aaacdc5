package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Attempt is one power-on.
type Attempt struct {
	ID    string                `json:"id"`
	Token string                `json:"token"` // in boot URLs; never printed
	State resource.AttemptState `json:"state"`
	// Since is when State was entered; At when the attempt began.
	Since      time.Time           `json:"since"`
	At         time.Time           `json:"at"`
	Number     int                 `json:"number"`
	Intended   protocol.BootTarget `json:"intended"`
	Observed   protocol.BootTarget `json:"observed,omitempty"`
	OwnerUID   string              `json:"ownerUID"`
	Generation uint64              `json:"generation"`
	Digest     string              `json:"digest"`         // of the image
	File       string              `json:"file,omitempty"` // name below the token
	Blob       string              `json:"blob,omitempty"` // digest of that file
	// Chain is all that the machine may fetch. It is never changed in place; nil for a
	// boot from disk, and in records of releases that served one file only.
	Chain  *protocol.BootChain `json:"chain,omitempty"`
	Stored protocol.Override   `json:"stored,omitzero"`
	// Read is Stored as the BMC spells it; Outcome is what became of the write.
	Read    protocol.Override    `json:"read,omitzero"`
	Outcome protocol.BootOutcome `json:"outcome,omitempty"`
	// OnSent is when On was first sent; OnAgain when it was last sent again.
	OnSent  time.Time `json:"onSent,omitzero"`
	OnAgain time.Time `json:"onAgain,omitzero"`
	// OnPending is when an On was last sent that may still take effect; zero once
	// the server was read running, or the BMC refused the only one.
	OnPending time.Time `json:"onPending,omitzero"`
	Epoch     uint64    `json:"epoch"` // before the power-on
	Marks     Marks     `json:"marks,omitzero"`
	// Served is on disk before the first byte of the last file is sent: from then on
	// the operating system may run.
	Served bool `json:"served,omitempty"`
	// Cached says that the BMC had read all of the medium before the power-on.
	Cached   bool                  `json:"cached,omitempty"`
	Evidence protocol.EvidenceKind `json:"evidence,omitempty"`
	Reason   string                `json:"reason,omitempty"`
	Code     resource.AttemptCode  `json:"code,omitempty"`
	// Assumed says that Fetched was assumed by Recover, and no event has said so yet.
	Assumed bool `json:"assumed,omitempty"`
	// Purpose is the owner's; Repeat is the grant's.
	Purpose resource.Purpose `json:"purpose,omitempty"`
	Repeat  bool             `json:"repeat,omitempty"`
	// Timeout is of a discovery, from OnSent; 0 is none.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Abandoned marks an attempt that was ended because its end was wanted.
	Abandoned bool `json:"abandoned,omitempty"`
	// Cleanup asks for a forced stop of what a failed network boot left running.
	Cleanup bool `json:"cleanup,omitempty"`
	// Ignition is the server's user data in this boot; nil without any. Given is on disk
	// before its first byte is sent, Deliveries counts those to the last byte.
	Ignition   *message.IgnitionIntent `json:"ignition,omitempty"`
	Given      bool                    `json:"given,omitempty"`
	Deliveries int                     `json:"deliveries,omitempty"`
	// Refusals are the reasons for which the user data was refused to who had the token.
	Refusals []IgnitionVerdict `json:"refusals,omitempty"`
	// Left is the target of an earlier attempt whose override may still be armed.
	Left protocol.BootTarget `json:"left,omitempty"`
	// Way is how the override is cleared now.
	Way DisarmWay `json:"way,omitempty"`
	// Disarm asks for the override to be cleared, because nothing consumed it.
	Disarm bool `json:"disarm,omitempty"`
	// URI says that firmware has the URL of File from its BMC. Reach is the intent's: with uri
	// it asks nobody by DHCP that is ours.
	URI   bool           `json:"uri,omitempty"`
	Reach resource.Reach `json:"reach,omitempty"`
	// Restart is a boot by ForceRestart, of a server that is not Off; see restartRule.
	Restart bool `json:"restart,omitempty"`
	// Cleared is the boot that an approval let through; zero where none was needed.
	Cleared ClearedBoot `json:"cleared,omitzero"`
}

// last is the name of the file after whose last byte the operating system may run.
func (a *Attempt) last() string {
	if a.Chain != nil {
		return a.Chain.Last
	}
	return a.File
}

// IsLast says whether a file is the last, by whichever way it is fetched.
func (a *Attempt) IsLast(name string) bool {
	if a.Chain != nil {
		return a.Chain.IsLast(name)
	}
	return name == a.File
}

// fileFor is the file that a client of the class is told of.
func (a *Attempt) fileFor(class protocol.ClientClass) string {
	if a.Chain != nil {
		return a.Chain.FileFor(class)
	}
	return a.File
}

// Network says whether the attempt boots from the network.
func (a *Attempt) Network() bool { return a.Intended != protocol.TargetHdd }

// Open says whether the attempt has not ended.
func (a *Attempt) Open() bool {
	return a != nil && a.State != resource.AttemptSucceeded && a.State != resource.AttemptFailed
}

// ClearedBoot is a boot that an approval let through.
type ClearedBoot struct {
	Approval string                 `json:"approval"`
	Class    resource.ApprovalClass `json:"class"`
	BootEnv  string                 `json:"bootEnv,omitempty"`
	Digest   string                 `json:"digest"` // of the image
}

// Marks are the moments of an attempt between which its parts lie; zero is not come to.
type Marks struct {
	Written time.Time `json:"written,omitzero"`
	Armed   time.Time `json:"armed,omitzero"`
	Asked   time.Time `json:"asked,omitzero"`
	Fetched time.Time `json:"fetched,omitzero"`
}
