package judge

import (
	"slices"

	"rackboot/integration/powerlog"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Time is CLOCK_BOOTTIME, as in the machines' logs.
type Time = powerlog.Time

// Promise is what a storm may break.
type Promise string

// The promises. The codes are those of integration/storm/testdata/rows.txt.
const (
	NoOn       Promise = "no-on"      // no power-on of ours between a receipt and the release
	OneBoot    Promise = "one-boot"   // at most one network boot for each grant
	NotLost    Promise = "not-lost"   // what was accepted is there, and comes to its end
	NotDoubled Promise = "not-double" // what was accepted is done once
	TrueWords  Promise = "true-words" // what is said of a server was so
	AuditWhole Promise = "audit"      // each accepted operation is in the audit log, which fits together
	Recovers   Promise = "recovers"   // hub and agent serve again by themselves once a fault is over
)

// Promises lists them in the order of the table.
func Promises() []Promise {
	return []Promise{NoOn, OneBoot, NotLost, NotDoubled, TrueWords, AuditWhole, Recovers}
}

// OpKind is what an operator asked for.
type OpKind string

// The operations.
const (
	OpClaim   OpKind = "claim"   // apply a claim for the server
	OpUnclaim OpKind = "unclaim" // delete it
	OpHold    OpKind = "hold"
	OpRelease OpKind = "release"
	OpReboot  OpKind = "reboot"
	OpResume  OpKind = "resume"
	OpAdopt   OpKind = "adopt"   // let the server be installed over what it may have
	OpRollout OpKind = "rollout" // apply a group with another image
	OpVerify  OpKind = "verify"  // the audit log was read and checked
	OpUpload  OpKind = "upload"  // upload an archive under a name, in the place of the one that has it
	OpExport  OpKind = "export"  // write the audit logs of all hubs to a file
)

// Result is what the operator was told.
type Result string

// The results. Of an operation with an unknown result nothing is known: it may have been
// accepted.
const (
	Accepted Result = "accepted"
	Refused  Result = "refused"
	Unknown  Result = "unknown"
)

// Op is one operation. Target is the id or name of what it made or is about; empty where the
// operator was not told. Ref is the operator's own name for it, a hold's key or a request's
// ref, and given once in a run.
type Op struct {
	Kind         OpKind
	Server       string
	Others       []string // further servers that it is about
	Target, Ref  string
	Begun, Ended Time
	Result       Result
	// Fenced is that the operator waited for the proof, and was told of it.
	Fenced bool
	// Retry is of OpResume: the first boot is tried anew, though its grant is used up.
	Retry bool
	// Digest is of OpUpload: that of the archive.
	Digest string
	// AuditOp and AuditTarget are those of its entry in the audit log.
	AuditOp, AuditTarget string
	Why                  string // of what failed, for people
	Raw                  bool   // the answer's code is that of a defect
}

// about reports whether the operation is about a server.
func (o Op) about(server string) bool {
	return o.Server == server || slices.Contains(o.Others, server)
}

// may reports whether the operation may have been accepted.
func (o Op) may() bool { return o.Result != Refused }

// Hold is a hold as it was read from the hub.
type Hold struct {
	ID, Server, Key string
	State           resource.HoldState
	Released        bool
	// StoppedSince is the receipt's, by a clock that was right; 0 without one.
	StoppedSince Time
}

// Request is a one-shot as it was read from the hub.
type Request struct {
	ID, Server, Ref string
	Action          resource.RequestAction
	Outcome         resource.Outcome
}

// Grant is a permission for a network boot as it was read from the hub.
type Grant struct {
	Server, Claim, OwnerUID string
	Generation              uint64
	Repeat                  bool
	Provisioned             bool
}

// Poll is everything that the hub had at one time between From and To, by its API.
type Poll struct {
	From, To Time
	Holds    []Hold
	Requests []Request
	Grants   []Grant
	Claims   []string // names
}

// AuditEntry is what the judge needs of an entry of the audit log.
type AuditEntry struct {
	Op, Target string
	Outcome    protocol.AuditOutcome
}

// Recovery is the time after a fault in which hub and agent are to serve again.
type Recovery struct {
	From, To Time
	By       string // what somebody had to do for it, and why; empty for nothing
}

// History is what a storm has left behind.
type History struct {
	Recoveries []Recovery
	Machines   map[string][]powerlog.Entry
	Ops        []Op
	Polls      []Poll // in order
	Audit      []AuditEntry
	// AuditRead is whether the audit log could be read at the end.
	AuditRead bool
	// Claimed are the servers whose claim wants them On at the end; Quiet is whether
	// everything was given the time to come to rest.
	Claimed []string
	Quiet   bool
	End     Time

	// Hubs is how many share the site. Agents and Probes, in order, are of several.
	Hubs   int
	Agents []Heads
	Probes []Probe
	// Files are what each hub had of uploaded files at the end, by the hub's name and the file's.
	Files map[string]map[string]File
}

// Violation is a broken promise.
type Violation struct {
	Promise Promise
	Server  string // empty: of none
	At      Time
	Why     string
}

// Exercise is a time in which a promise was at stake.
type Exercise struct {
	Promise  Promise
	Server   string
	From, To Time
}

// Verdict is what the judge found.
type Verdict struct {
	// Promises are those that were judged, in the order of the table.
	Promises   []Promise
	Violations []Violation
	Exercises  []Exercise
}

func (v *Verdict) broken(p Promise, server string, at Time, why string) {
	v.Violations = append(v.Violations, Violation{p, server, at, why})
}

func (v *Verdict) tested(p Promise, server string, from, to Time) {
	v.Exercises = append(v.Exercises, Exercise{p, server, from, to})
}

// Judge judges a history.
func Judge(h History) Verdict {
	v := Verdict{Promises: PromisesOf(h.Hubs)}
	receipts(h, &v)
	boots(h, &v)
	lost(h, &v)
	doubled(h, &v)
	words(h, &v)
	audit(h, &v)
	recoveries(h, &v)
	if h.Hubs > 1 {
		several(h, &v)
		uploads(h, &v)
	}
	return v
}
