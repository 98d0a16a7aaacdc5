package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Snapshot is everything that a decision about one server may depend on.
type Snapshot struct {
	Server string
	// Synced is false until the agent has applied a document of its hub (P4).
	Synced bool
	// Ended says that the hub has ended the agent's term, or that it stands by: nothing is ordered, not
	// even a stop. Whether another agent owns the server by now cannot be known here.
	Ended bool
	// Aside says that another agent has the same disk, and nobody has said yet which goes on: nothing is
	// done but what holds want.
	Aside bool
	// Intent is nil where no document names the server.
	Intent *message.ServerIntent
	Holds  []Hold // in order of id
	// HubTime is the hub's clock, never behind it; zero while the hub has not been
	// heard since the agent started, and while documents that it named are not in
	// force. Until then one-time permissions wait: the agent's disk may be an old copy.
	HubTime time.Time
	// NoAddress is the segment that has no address for the server, which asked; empty if it
	// does not wait for one.
	NoAddress string
	// Incarnation is the agent's. Run names this run of its process.
	Incarnation string
	Run         string
	Requests    []resource.Request
	// Asked are resumes that were asked for at the agent.
	Asked    []resource.Request
	Settings Settings
	// TakenOver are agents that served the rack before, and whose own holds are not known.
	TakenOver []string
	// Bulk bounds ForceOff.
	Bulk Bulk
	// Approved are the approvals of boots that name the server, are in their time and were
	// not used for it.
	Approved []resource.Approval
	// Grant is the intent's grant, opened and verified by the caller; GrantError
	// says why there is none.
	Grant      *message.Grant
	GrantError string
	// Echo is the hub's echo of a provisioned record whose signature was verified.
	Echo *resource.Provisioned
	// Chain is what the machine would boot its image through, chosen by the caller;
	// where nothing fits it is nil, and ChainError says why.
	Chain      *protocol.BootChain
	ChainError string
	// Private is which ways the server has for a private token.
	Private Private
	// MediaError says why the server cannot be booted by virtual media; empty if it can.
	MediaError string
	// Artefacts says whether everything that the boot needs is local and verified.
	Artefacts Artefacts
	// Firmware is work that was marked as not to be interrupted, also where the newest
	// document leaves the server out.
	Firmware *resource.FirmwareWork
	// Frozen is the freeze that lies on the server; nil is none.
	Frozen *resource.Frozen
	// Place is where the server stands in the line of those that are switched on.
	Place Place
	// CanGuard says whether the driver offers a power restore policy at all.
	CanGuard bool
	// Uptime is how long the agent has run, by a clock that nobody sets.
	Uptime time.Duration
	// BMCError is set where the BMC cannot even be asked (no credentials).
	BMCError *resource.ConditionState

	Record Record
	Watch  Watch

	// What happened since the last step. Observation is nil if nothing was read.
	Observation *protocol.Observation
	// Read is when it was made.
	Read ReadSpan
	// Busy and RetryAfter are why the read failed: the BMC asked for a pause, or is not
	// asked for a while because it does not answer.
	Busy       bool
	RetryAfter time.Duration
	// Identity is nil if it was not read, and so is Safety.
	Identity *Identity
	Safety   *protocol.Safety
	Result   *Result
	Events   []Event

	// Overlay is what happened in guard mode; nil if nothing did, or it was folded since. It was
	// before Observation.
	Overlay *Overlay

	// Passive folds what happened and orders nothing: evidence that must be on
	// disk before an answer goes out, while an action may be under way.
	Passive bool

	// NewID, NewToken, NewMedium and NewPrivate are fresh random strings for an attempt.
	NewID, NewToken, NewMedium, NewPrivate string
}

// takenOver says whether the server may be held by what nobody here knows.
func (s *Snapshot) takenOver() bool { return len(s.TakenOver) > 0 }

// Hold is a hold that the agent has enforced.
type Hold struct {
	resource.ActiveHold
	EnforcedAt time.Time `json:"enforcedAt"`
	// Missing is set when a newer document no longer names the hold; it is
	// enforced all the same (P1).
	Missing bool `json:"missing,omitempty"`
	// Local is set while the hold was placed at the agent and no document of the hub
	// has named it yet.
	Local bool `json:"local,omitempty"`
	// Withheld says whose release was not followed for want of an approval, while no
	// newer document names the hold.
	Withheld string `json:"withheld,omitempty"`
}

// Settings are the rack's times.
type Settings struct {
	SoftTimeout  time.Duration
	SettleWindow time.Duration
	PollInterval time.Duration
	// Poll is PollInterval before it was spread at random; PollInterval if zero.
	Poll time.Duration
	// BelieveAfter is resource.DefaultBelieveAfter if zero.
	BelieveAfter time.Duration
}

// Artefacts is the state of an image's boot files at the agent.
type Artefacts struct {
	Local  bool
	Failed *resource.ConditionState
	// Destructive says that they are of an environment that discards what is on the disks,
	// as the agent reads in what it is made of.
	Destructive bool
}

// Result is how the action of the last step ended.
type Result struct {
	Action  ActionKind
	Attempt string
	At      time.Time
	Code    protocol.Code // empty: it was accepted
	Busy    bool          // the BMC asked for a pause
	// RetryAfter is how long; 0 is not stated.
	RetryAfter time.Duration
	Message    string
	// Fault is what the BMC did wrong; zero if nothing, or no answer came.
	Fault protocol.BMCFault
	// Of an arm or disarm: what the BMC holds, in our words and its own; what became
	// of the write, at which resource, and a line for people.
	Stored, Read protocol.Override
	Outcome      protocol.BootOutcome
	Where, Text  string
	// Plain is that an override was written without its URL, which the BMC does not take.
	Plain bool
	// Pending is that a URL was cleared with effect from the next reset.
	Pending bool
	// Policy is what ActReadPolicy read; empty is one that is not known.
	Policy protocol.RestorePolicy
	// Of an insert: that somebody else's medium is in the way, and that the config image
	// has a drive.
	Occupied, Config bool
	// Firmware is what firmware settings were read, or came of writing some; nil of other actions.
	Firmware *FirmwareAnswer
}

// Event is a piece of evidence about one server.
type Event struct {
	Kind  protocol.EvidenceKind
	Class protocol.ClientClass
	Token string
	File  string // that was fetched
	// Message is what an image said beside its report.
	Message string
	At      time.Time
	// Begun marks that the first byte of the last file is about to be sent; Opened that of any.
	Begun, Opened bool
	// Claimed is what a boot client is that says it is the server, and Claimant how it described
	// itself; empty for other events.
	Claimed  Claimed
	Claimant Claimant
	// Report is why a report of the image is not heeded; empty for other events.
	Report ReportVerdict
	// Attested says of a report that the server's TPM has proved the boot, Unattested why not, by code.
	Attested   bool
	Unattested string
	// UserData is what happened to the user data of the attempt; empty for other events.
	UserData IgnitionVerdict
	// Medium is what the BMC read of the medium whose token it is; empty for other events.
	Medium mediumRead
	// Asks says that it asked by HTTP for the first file of a boot that is over;
	// StopImage that it was given the stop image.
	Asks      bool
	StopImage bool
}

// Plan is what to do: effects strictly in the order Persist, Act, Report.
type Plan struct {
	// Record is to be on disk before Action, if Persist.
	Record  Record
	Persist bool
	Watch   Watch
	Action  Action
	// Fetch asks for the artefacts to be fetched in the background.
	Fetch bool
	// Survey asks for the inventory to be read again soon.
	Survey bool
	// Place is what the server needs of the line of those that are switched on; empty of a passive step, which
	// changes nothing of that.
	Place PlaceNeed
	// Changed says that what the inventory says was changed, and is to be read at once.
	Changed bool
	// Expire are the holds that end now because their time to live is over; they end
	// in the same transaction that writes Record.
	Expire []resource.Release
	// Cleared is how a ForceOff was let through that is sent first now; what it took is
	// noted in the same transaction.
	Cleared Clearance
	// Spent is the approval that the boot of an attempt uses which begins now; noted likewise.
	Spent    string
	Measured Measured
	// Happened are events for the hub, in order.
	Happened []resource.Event
	// RecheckAt is when to read the BMC and decide again, at the latest.
	RecheckAt time.Time
}

// ActionKind is one thing to do to a server.
type ActionKind string

// The actions.
const (
	ActNone     ActionKind = "none"
	ActArm      ActionKind = "arm"
	ActDisarm   ActionKind = "disarm"
	ActOn       ActionKind = "on"
	ActRestart  ActionKind = "restart"
	ActGraceful ActionKind = "graceful-shutdown"
	ActForceOff ActionKind = "force-off"
	// What a server does when mains power returns: read, set while held, and put back.
	ActReadPolicy ActionKind = "read-restore-policy"
	ActGuard      ActionKind = "guard"
	ActUnguard    ActionKind = "unguard"
	// The images of a boot by virtual media.
	ActInsert ActionKind = "insert-media"
	ActEject  ActionKind = "eject-media"
	// The URL of an attempt, which went in with its override.
	ActClearURL ActionKind = "clear-boot-url"
	// Settings of the firmware: how they are, and what they are to be after the next POST. Both take minutes.
	ActReadFirmware  ActionKind = "read-firmware"
	ActWriteFirmware ActionKind = "write-firmware"
)

// Action is the one action of a plan.
type Action struct {
	Kind     ActionKind
	Attempt  string
	Override protocol.Override
	// URI says that the BMC is given the URL of the attempt's first file with the override;
	// Plain that the override goes without it into a BMC that takes none.
	URI, Plain bool
	Policy     protocol.RestorePolicy
	// Soft is a restart that asks the operating system to stop (GracefulRestart).
	Soft bool
	// Within bounds the call, where a read must not wait for it; 0 does not.
	Within time.Duration
	// Firmware is of [ActReadFirmware] and [ActWriteFirmware]; nil of others.
	Firmware *FirmwareOrder
}

// mediumRead is what a BMC was seen to read of a medium.
type mediumRead string

// What is read.
const (
	MediumWhole mediumRead = "whole" // all of it, in this run of the agent
)
