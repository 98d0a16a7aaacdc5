package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// Write says where a boot override is written.
type Write string

// The places of a boot override.
const (
	WriteMain     Write = ""         // the ComputerSystem itself
	WriteSettings Write = "settings" // its @Redfish.Settings resource; the system refuses
	WriteOEM      Write = "oem"      // a resource of the vendor's; the system refuses
)

// BootRules say how a BMC takes, shows and loses a boot override.
type BootRules struct {
	At Write
	// RefuseID is the MessageId with which the system refuses what is written
	// elsewhere; empty is PropertyNotWritable.
	RefuseID string
	// Pending keeps what is written to the settings from the system, and from
	// firmware, until the next reset or power-on.
	Pending bool

	Need        []string // properties of Boot that every change of the override must name
	NeedReverts bool     // without them: 200, and their value goes back, instead of 400
	NotTogether []string // properties of Boot that are refused though the tree shows them

	ModeHidden  bool // Mode is taken but not shown
	ModeJob     bool // a write of Mode makes a BIOS job: the next boot reboots twice and boots the disk
	LateJob     bool // a write during POST makes a job for the boot after: this boot takes the disk
	ModeReverts bool // a write of Target turns Mode to Legacy
	// EnabledNeedsTarget refuses Enabled while Target is None or goes there.
	EnabledNeedsTarget bool

	RefuseTargets []string // refused as UnsupportedOperation though they are listed
	RefuseEnabled string   // a value of Enabled that is refused
	StoreEnabled  string   // is stored as Enabled instead of Once
	StoreTarget   map[string]string
	// NeedTarget refuses a change without Target and Mode, in plain text.
	NeedTarget  bool
	Forget      bool // 200, and then Mode is Legacy and Enabled Disabled
	RefuseYetDo bool // a change that names Enabled is answered with 400 and made
	ShowTarget  map[string]string

	BusyInBoot time.Duration // 503 to changes, so long after power-on or reset
	// URIReadOnly refuses HttpBootUri though it is shown.
	URIReadOnly bool

	NeverUsedUp   bool // Once stays after the boot
	UsedUpAtOn    bool // Once is gone at power-on, before firmware reads it
	FixedOrder    bool // while the fixed boot order is on, changes of the override are refused
	DiskDisabled  int  // after so many boots from the network the disk is off in the fixed boot order
	NetworkNeeds  []Attribute
	NetworkNeedID string      // logged when UefiHttp fails for an attribute
	PxeNeeds      []Attribute // without them firmware answers an order of Pxe by HTTP
}

// Attribute is a BIOS attribute with a value.
type Attribute struct{ Name, Value string }

// Match says which If-Match headers a BMC takes.
type Match string

// The rules for If-Match.
const (
	MatchLoose  Match = ""       // weak and strong forms, and none
	MatchExact  Match = "exact"  // the form that was given
	MatchStrong Match = "strong" // strong forms only
	MatchNone   Match = "none"   // no header at all
	MatchNever  Match = "never"  // refused in every form; none is refused too
)

// ETagRules say how a BMC tags resources.
type ETagRules struct {
	// Form is "" for weak tags, or "strong", "absent", "empty", "doubled",
	// "changing" (another at every read) or "gzip" (weak for who accepts gzip,
	// strong for others).
	Form     string
	Match    Match
	Required bool // 428 without If-Match
	Refuse   int  // so many valid If-Match are refused with 412
}

// PowerRules say how a BMC reports and changes power, besides what Personality
// says itself.
type PowerRules struct {
	StaleFor    time.Duration // reads show the state of so long ago
	OffAtOnce   bool          // Off is shown as soon as it is accepted, while the host runs on for PowerOffDelay
	OnLate      time.Duration // an On is accepted, and begun so much later
	OnFallsBack int           // so many On show PoweringOn for PowerOnDelay and then Off
	Shown       map[string]any
	NoResets    bool          // no reset types are stated
	BusyAfter   time.Duration // 503 SYS518 with Retry-After so long after power-on or reset
	Gap         time.Duration // 503 to a reset sooner after the last
	RefuseAfter time.Duration // 400 to a reset sooner after the last, as in the wrong state
	// RestartHangs leaves the host without a boot after ForceRestart until it was
	// off.
	RestartHangs bool
	RestartHard  bool // GracefulRestart cuts power
	IgnoreForce  bool // ForceOff is accepted, and nothing is done
	// TaskFails answers resets with 202 and a Task, which ends as Exception without doing
	// anything, TaskTakes later.
	TaskFails   bool
	TaskTakes   time.Duration
	Absent      bool   // PowerState is left out
	RefuseReset string // a reset type that is refused though it is stated
	// RestoreAttribute is the BIOS attribute that holds the restore policy.
	RestoreAttribute string
}

// ReportRules say what else a BMC reports about a host.
type ReportRules struct {
	// LastReset is "" for the time, or "absent", "zero" or "epoch".
	LastReset string
	// Progress is "" for the state, or "absent", "stuck", "oem" (OemLastState),
	// "hpe" (Oem.Hpe.PostState) or "forgets" (None after a restart of the BMC).
	Progress string
	// Clock is what the manager's clock is wrong by.
	Clock time.Duration
	// ResetComputed is a LastResetTime that the BMC computes from the uptime at each read: it
	// moves when its clock is set.
	ResetComputed bool
}

// SessionRules say how a BMC keeps sessions.
type SessionRules struct {
	Max     int           // 0 is 16
	Timeout time.Duration // a session ends so long after its last use; 0 is never
	// FullStatus and FullID are the answer where no session is left; 0 is Dell's.
	FullStatus int
	FullID     string
	NoLink     bool // the service root has no Links.Sessions
	LockAfter  int  // so many wrong passwords block everybody; 0 is never
	LockFor    time.Duration
}

// WireRules say how a BMC speaks HTTP.
type WireRules struct {
	H2Only    bool          // HTTP/2 only
	OldTLS    bool          // TLS 1.0 only, keys are exchanged by RSA, and the certificate has a negative serial number
	DropIdle  time.Duration // a connection that was idle so long is closed when it is used
	Slash     bool          // 308 to the URI with a slash at its end
	Redirect  string        // reads of the system are sent to this origin
	Loop      bool          // the systems go on at the same page for ever
	Huge      int           // reads of the system are so many bytes longer
	Malformed bool          // reads of the system are cut off in the middle
	Short     bool          // likewise, and Content-Length states the whole
	Drip      time.Duration // between two bytes of a read of the system
	Wrong     tree.Object   // merged over the system: values of a wrong type
	Unready   string        // the URI of a resource that is 503
	NoPlain   bool          // 406 to registries for who does not accept gzip
}

// EventRules say how a BMC delivers events.
type EventRules struct {
	Max           int           // subscriptions, 0 is 20
	MaxStreams    int           // server-sent event streams, 0 is 10
	StopAfter     int           // a stream or webhook is told nothing more after so many events; 0 is never
	Attempts      int           // tries for each event; 0 is 3
	Interval      time.Duration // between the tries
	OnFailure     string        // after the last try: "" goes on, "delete" or "disable"
	NoRetryPolicy bool          // DeliveryRetryPolicy is refused
	Silent        bool          // power changes are never sent
}

// MediaRules say how a BMC takes virtual media.
type MediaRules struct {
	Refuse       []string // properties of InsertMedia that are refused
	Need         []string // properties of InsertMedia that must be there
	NeedMethod   string   // the only TransferMethod
	KeepInserted bool     // Inserted stays true after an eject
	EjectBody    bool     // an eject without a body is refused
	RefuseChars  string   // an image's URL with one of these is refused
	FirstSlot    bool     // only the first slot takes media
	Busy         int      // so many inserts are answered with 500
	Keeps        bool     // an image is fetched whole when it is inserted, and not again
	Target       string   // the override target that boots it; empty is Cd
}

// BIOSRules say how a BMC changes BIOS attributes.
type BIOSRules struct {
	OwnJob    bool          // settings with an apply time make their job: a further one is refused
	Conflict  bool          // settings are refused while a change of SecureBoot waits
	JobHidden time.Duration // a new job is 404 so long
	Deaf      bool          // settings are taken and dropped at the reset
	NeedParts []Attribute   // the attributes whose name begins with Name can be written while Value ("Name=Value") holds
}

// UpdateRules say how a BMC updates firmware.
type UpdateRules struct {
	Takes   time.Duration
	Reboots bool // restarts the host when it is done
	// Moves is the path of the first system when it is done; empty leaves it where it is.
	Moves string
}

// AccountRules say how a BMC keeps accounts.
type AccountRules struct {
	Slots                int           // so many fixed slots, changed by PATCH; 0 adds accounts by POST
	MinLength, MaxLength int           // of passwords, stated and enforced; 0 is any
	CutAt                int           // longer passwords are cut, without a word
	MustChange           bool          // the first password must be changed before anything else
	KeepsOld             bool          // a change is answered with 200 and not made
	ApplyAfter           time.Duration // a change is answered with 200 and made later
	ReadOnly             bool          // accounts cannot be changed
	WeakRole             bool          // what is added can only read, whatever RoleId says
}
