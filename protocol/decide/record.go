package decide

import (
	"maps"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Record is what an agent keeps on disk for one server. It holds facts and
// intents that must survive a crash; what can be read again is in Watch.
type Record struct {
	Server string `json:"server"`
	// Power is the last On or Off that was read; other values do not change it.
	Power protocol.PowerState `json:"power,omitempty"`
	// Epoch counts power-ons, caused or merely observed.
	Epoch uint64 `json:"epoch"`
	// Seen is what the BMC showed last, whatever it was.
	Seen protocol.PowerState `json:"seen,omitempty"`
	// LastPoweredOn is before the last power-on: everything that ran before it
	// was stopped (seed 002, lastPoweredOn). Booted says for what that was; nil in
	// records of releases that did not note it.
	LastPoweredOn time.Time `json:"lastPoweredOn,omitzero"`
	Booted        *Booted   `json:"booted,omitempty"`
	// PendingRebootSince is when the first hold or reboot since the last power-on was
	// taken up while the server was on (seed 002, pendingRebootSince). Pending says
	// that it is later than LastPoweredOn.
	PendingRebootSince time.Time   `json:"pendingRebootSince,omitzero"`
	Pending            bool        `json:"pending,omitempty"`
	Unexpected         *Unexpected `json:"unexpected,omitempty"`
	Stop               *Stop       `json:"stop,omitempty"`
	Attempt            *Attempt    `json:"attempt,omitempty"`
	// Used are the grants that were used, by claim UID and generation.
	Used map[string]GrantUse `json:"used,omitempty"`
	// Provisioned is the newest record of a boot that ended well, and the only one that
	// earlier releases kept. Earlier are those of other owners and generations, by both.
	Provisioned *resource.Provisioned           `json:"provisioned,omitempty"`
	Earlier     map[string]resource.Provisioned `json:"earlier,omitempty"`
	// Left is nil where the BMC keeps no override against our will.
	Left *Left `json:"left,omitempty"`
	// Rearm is nil where nothing is armed for restarts of the operating system.
	Rearm *Rearm `json:"rearm,omitempty"`
	// Medium is nil where nothing of ours is in a virtual drive.
	Medium *Medium `json:"medium,omitempty"`
	// URL is nil where no BMC has a URL of ours.
	URL *BootURL `json:"url,omitempty"`
	// Receipts are by hold id. A receipt leaves with its hold, or when revoked.
	Receipts map[string]resource.Receipt `json:"receipts,omitempty"`
	// Manual are receipts on an operator's word, by hold id, where there is none from
	// reads. They prove nothing.
	Manual map[string]resource.Receipt `json:"manual,omitempty"`
	// Terms are of the holds that have a time to live.
	Terms map[string]Term `json:"terms,omitempty"`
	// Guard is nil where the BMC's restore policy is its own.
	Guard *Guard `json:"guard,omitempty"`
	// Violated says when a held server was last seen on, by hold id.
	Violated map[string]time.Time `json:"violated,omitempty"`
	Requests []RequestState       `json:"requests,omitempty"`
	// Ended are requests that the hub does not send any more, the newest last.
	Ended []EndedRequest `json:"ended,omitempty"`
	// LastReset is the BMC's LastResetTime, as its clock has it: compared for change
	// only. Ordered is when a reset of ours was last sent.
	LastReset time.Time `json:"lastReset,omitzero"`
	Ordered   time.Time `json:"ordered,omitzero"`
	// PowerLog is the newest entry of the BMC's log about power. Progress is the last
	// BootProgress that said anything.
	PowerLog string   `json:"powerLog,omitempty"`
	Progress Progress `json:"progress,omitzero"`
	// Safety is nil until the inventory was read once.
	Safety *protocol.Safety `json:"safety,omitempty"`
	// Identity is nil until it was read once.
	Identity *Known `json:"identity,omitempty"`
	// Fallback is nil where no boot is counted.
	Fallback *Fallback `json:"fallback,omitempty"`
	// Released is the UID of the claim whose server was proved Off at its end.
	Released   string                    `json:"released,omitempty"`
	Conditions []resource.ConditionState `json:"conditions,omitempty"`
}

// Stop is a stop under way.
type Stop struct {
	Mode       resource.StopMode `json:"mode"`
	Since      time.Time         `json:"since"`
	Graceful   time.Time         `json:"graceful,omitzero"` // when GracefulShutdown was sent
	Forced     time.Time         `json:"forced,omitzero"`   // when ForceOff was last sent
	ForceCount int               `json:"forceCount,omitempty"`
	// Taken is how many ForceOffs the BMC has taken, Blind how many were sent without a power
	// state. Refused is that the last was refused or lost.
	Taken   int  `json:"taken,omitempty"`
	Blind   int  `json:"blind,omitempty"`
	Refused bool `json:"refused,omitempty"`
	// Cleared is that ForceOff was let through, Waits that it waits for an approval; see
	// clearRule.
	Cleared bool `json:"cleared,omitempty"`
	Waits   bool `json:"waits,omitempty"`
}

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

// GrantUse is how far a grant was used.
type GrantUse struct {
	Attempts int    `json:"attempts"`
	Spent    bool   `json:"spent,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Of a grant that repeats, Attempts are those in a row that fetched nothing since the
	// last order. Ran says that the files were fetched since: the next boot waits for an
	// order.
	Repeat bool `json:"repeat,omitempty"`
	Ran    bool `json:"ran,omitempty"`
	// At is when it was last used; releases before this field did not say. Over says that
	// its owner has let the server go.
	At   time.Time `json:"at,omitzero"`
	Over bool      `json:"over,omitempty"`
	// Cleared is the boot that an approval let through and that has fetched nothing yet.
	Cleared ClearedBoot `json:"cleared,omitzero"`
}

// RequestState is an accepted one-shot request, kept after its end until the
// hub no longer sends it.
type RequestState struct {
	resource.Request
	AcceptedAt time.Time        `json:"acceptedAt"`
	StoppedAt  time.Time        `json:"stoppedAt,omitzero"` // first Off read after acceptance
	Epoch      uint64           `json:"epoch,omitempty"`    // when it was read Off
	Outcome    resource.Outcome `json:"outcome"`
	EndedAt    time.Time        `json:"endedAt,omitzero"`
	Reason     string           `json:"reason,omitempty"`
	// ClaimUID is the claim under which it was accepted, and with which it ends; empty
	// without one.
	OwnerUID string `json:"ownerUID,omitempty"`
	// Behind says that it waits for holds or firmware work; From is when it last
	// ceased to, and requestLimit runs from there.
	Behind bool      `json:"behind,omitempty"`
	From   time.Time `json:"from,omitzero"`
	// Local is a resume that was asked for at the agent, by whose clock its notAfter is.
	Local bool `json:"local,omitempty"`
	// Fallback is that a resume stops and starts the server, whose BMC does not restart
	// it; Renewed that its retry has renewed a grant.
	Fallback bool `json:"fallback,omitempty"`
	Renewed  bool `json:"renewed,omitempty"`
}

// clone copies everything that a step may change.
func (r Record) clone() Record {
	c := r
	if r.Unexpected != nil {
		v := *r.Unexpected
		c.Unexpected = &v
	}
	if r.Stop != nil {
		v := *r.Stop
		c.Stop = &v
	}
	if r.Attempt != nil {
		v := *r.Attempt
		v.Refusals = slices.Clone(v.Refusals)
		c.Attempt = &v
	}
	if r.Provisioned != nil {
		v := *r.Provisioned
		c.Provisioned = &v
	}
	if r.Left != nil {
		v := *r.Left
		c.Left = &v
	}
	if r.Rearm != nil {
		v := *r.Rearm
		c.Rearm = &v
	}
	if r.Medium != nil {
		v := *r.Medium
		c.Medium = &v
	}
	if r.URL != nil {
		v := *r.URL
		c.URL = &v
	}
	c.Earlier = maps.Clone(r.Earlier)
	c.Identity = r.Identity.clone()
	c.Used = maps.Clone(r.Used)
	c.Receipts = maps.Clone(r.Receipts)
	c.Violated = maps.Clone(r.Violated)
	c.Manual = maps.Clone(r.Manual)
	c.Terms = maps.Clone(r.Terms)
	if r.Guard != nil {
		v := *r.Guard
		c.Guard = &v
	}
	if r.Booted != nil {
		v := *r.Booted
		c.Booted = &v
	}
	if r.Safety != nil {
		v := *r.Safety
		c.Safety = &v
	}
	if r.Fallback != nil {
		v := *r.Fallback
		c.Fallback = &v
	}
	c.Requests = slices.Clone(r.Requests)
	c.Ended = slices.Clone(r.Ended)
	c.Conditions = slices.Clone(r.Conditions)
	return c
}

// Recover is applied to every record when an agent starts. A boot file that was
// being served when the agent died may have been read to its end, so the boot
// counts as fetched: it is never repeated by guess (P9).
// changed says whether anything came of it; a record that was recovered does not change again.
func Recover(r Record) (c Record, changed bool) {
	c = r.clone()
	if a := c.Attempt; a.Open() && a.Served && a.State != resource.AttemptFetched {
		a.State = resource.AttemptFetched
		a.Evidence = protocol.EvidenceFetched
		a.Reason = "assumed: the agent restarted while the boot file was being served"
		a.Assumed = true
		c.ran()
		changed = true
	}
	if a, m := c.Attempt, c.Medium; a.Open() && m != nil && m.Attempt == a.ID && !a.Cached {
		a.Cached, changed = true, true // what the BMC read meanwhile, nobody has counted
	}
	return c, changed
}
