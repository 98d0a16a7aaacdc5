package decide

import (
	"maps"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Record is what an agent keeps on disk for one server. It holds facts and
// intents that must survive a crash; what can be read again is in Watch.
type Record struct {
	Server string `json:"server"`
	Shown  Shown  `json:"shown"`
	// LastPoweredOn is before the last power-on: everything that ran before it
	// was stopped (seed 002, lastPoweredOn). Booted says for what that was; nil where
	// it is not known.
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
	Owners             Owners      `json:"owners"`
	// Residue is what we left at the BMC; see there.
	Residue Residue `json:"residue,omitempty"`
	Holds   Holds   `json:"holds"`
	// Guard is nil where the BMC's restore policy is its own.
	Guard    *Guard         `json:"guard,omitempty"`
	Requests []RequestState `json:"requests,omitempty"`
	// Ended are requests that the hub does not send any more, the newest last.
	Ended []EndedRequest `json:"ended,omitempty"`
	// Ordered is when a reset of ours was last sent.
	Ordered time.Time `json:"ordered,omitzero"`
	// Safety is nil until the inventory was read once.
	Safety *protocol.Safety `json:"safety,omitempty"`
	// Identity is nil until it was read once.
	Identity   *Known                    `json:"identity,omitempty"`
	Conditions []resource.ConditionState `json:"conditions,omitempty"`
	// Pace is how quick its boots were that nobody disputed.
	Pace Pace `json:"pace,omitzero"`
}

// Shown is what the BMC showed of the server.
type Shown struct {
	// Power is the last On or Off that was read; other values do not change it.
	Power protocol.PowerState `json:"power,omitempty"`
	// Seen is what was shown last, whatever it was.
	Seen protocol.PowerState `json:"seen,omitempty"`
	// Epoch counts power-ons, caused or merely observed.
	Epoch uint64 `json:"epoch"`
	// LastReset is the BMC's LastResetTime, as its clock has it: compared for change only.
	LastReset time.Time `json:"lastReset,omitzero"`
	// Clock is what its clock showed when LastReset was noted.
	Clock BMCClock `json:"clock,omitzero"`
	// PowerLog is the newest entry of the BMC's log about power. Progress is the last
	// BootProgress that said anything.
	PowerLog string   `json:"powerLog,omitempty"`
	Progress Progress `json:"progress,omitzero"`
	// OnTook is the longest that it was seen to take from an On to a read that showed its effect.
	// It only grows.
	OnTook time.Duration `json:"onTook,omitempty"`
}

// Owners are what was granted to owners of the server, and what their boots came to.
type Owners struct {
	// Used are the grants that were used, by owner UID and generation.
	Used map[string]GrantUse `json:"used,omitempty"`
	// Provisioned is the newest record of a boot that ended well. Earlier are those of other
	// owners and generations, by both.
	Provisioned *resource.Provisioned           `json:"provisioned,omitempty"`
	Earlier     map[string]resource.Provisioned `json:"earlier,omitempty"`
	// Fallback is nil where no boot is counted.
	Fallback *Fallback `json:"fallback,omitempty"`
	// Released is the UID of the claim whose server was proved Off at its end.
	Released string `json:"released,omitempty"`
	// Firmware is the last writing of firmware settings; nil: there was none.
	Firmware *resource.FirmwareRun `json:"firmware,omitempty"`
	// Over are the UIDs of owners that have let the server go, the newest last.
	Over []string `json:"over,omitempty"`
}

// use notes how far a grant was used. The map is shared with the record from before.
func (o *Owners) use(key string, u GrantUse) {
	if o.Used = maps.Clone(o.Used); o.Used == nil {
		o.Used = map[string]GrantUse{}
	}
	o.Used[key] = u
}

// Holds are what is known of holds, each by hold id.
type Holds struct {
	// Receipts leave with their hold, or when revoked.
	Receipts map[string]resource.Receipt `json:"receipts,omitempty"`
	// Manual are receipts on an operator's word, where there is none from
	// reads. They prove nothing.
	Manual map[string]resource.Receipt `json:"manual,omitempty"`
	// Terms are of the holds that have a time to live.
	Terms map[string]Term `json:"terms,omitempty"`
	// Violated says when a held server was last seen on.
	Violated map[string]time.Time `json:"violated,omitempty"`
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
	// At is when it was last used. Over says that
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
	// Restart is that a reboot is done as a resume is, by a restart: its server is never powered off.
	Restart bool `json:"restart,omitempty"`
	// Fallback is that a resume stops and starts the server, whose BMC does not restart
	// it; Renewed that its retry has renewed a grant.
	Fallback bool `json:"fallback,omitempty"`
	Renewed  bool `json:"renewed,omitempty"`
}

// resumes says whether the request is done by a boot from where the server stands.
func (s *RequestState) resumes() bool { return s.Action == resource.RequestResume || s.Restart }

// clone copies everything that a step may change in place. What is replaced as a whole is shared: what
// the server was booted for, its safety, and what is known of owners, which most steps only read.
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
		v.Marks.Refusals, v.Marks.Unheeded = slices.Clone(v.Marks.Refusals), slices.Clone(v.Marks.Unheeded)
		v.Stage.Course = slices.Clone(v.Stage.Course)
		c.Attempt = &v
	}
	c.Residue = r.Residue.clone()
	c.Identity = r.Identity.clone()
	c.Holds.Receipts = maps.Clone(r.Holds.Receipts)
	c.Holds.Violated = maps.Clone(r.Holds.Violated)
	c.Holds.Manual = maps.Clone(r.Holds.Manual)
	c.Holds.Terms = maps.Clone(r.Holds.Terms)
	if r.Guard != nil {
		v := *r.Guard
		c.Guard = &v
	}
	if r.Owners.Fallback != nil {
		v := *r.Owners.Fallback
		c.Owners.Fallback = &v
	}
	c.Owners.Firmware = cloneRun(r.Owners.Firmware)
	c.Requests = slices.Clone(r.Requests)
	c.Ended = slices.Clone(r.Ended)
	c.Conditions = slices.Clone(r.Conditions)
	return c
}

// Booted is for what a server was powered on.
type Booted struct {
	OwnerUID string `json:"ownerUID,omitempty"`
	Digest   string `json:"digest,omitempty"` // of the image
}

// Unexpected is a power transition that no order of ours explains. It stays until an
// operator's order, or until the server was brought where it shall be by one.
type Unexpected struct {
	At time.Time           `json:"at"`
	To protocol.PowerState `json:"to"`
	// By is what showed it.
	By protocol.UnexpectedBy `json:"by,omitempty"`
	// From is when the server was last read before: what was heard since may be of it.
	From time.Time `json:"from,omitzero"`
	// Image is when the server was given the stop image since, Asked when its firmware
	// asked for a boot, Heard when its operating system was first heard.
	Image time.Time `json:"image,omitzero"`
	Asked time.Time `json:"asked,omitzero"`
	Heard time.Time `json:"heard,omitzero"`
	// Stands is where the server is taken to stand, and Why; of one that is On.
	Stands protocol.Stands `json:"stands,omitempty"`
	Why    string          `json:"why,omitempty"`
}

// Fallback counts the failed network boots of a configuration that names the one before.
// It is kept until that configuration is booted well, or there is a newer one.
type Fallback struct {
	OwnerUID   string `json:"ownerUID"`
	Generation uint64 `json:"generation"`
	Failed     int    `json:"failed"`
	// Since is when the server fell back; zero while it has not.
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"` // of the last failure
	// Again lets the next boot go without an order of its own.
	Again bool `json:"again,omitempty"`
}

// strange says whether the server is another one than was trusted: then nothing is
// armed and nothing powered on; stops and holds go on.
func (r *Record) strange() bool { return r.Identity != nil && r.Identity.Other != nil }
