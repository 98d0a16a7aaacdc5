package bootspan

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// Boot is what is known of an attempt that has ended. It has no token and no secret.
type Boot struct {
	Rack, Server string
	// Attempt is its id. Number counts this kind of boot for the owner, from 1.
	Attempt string
	Number  int
	// Owner is what the server was booted for. The name is empty where no document says it any more.
	Owner      resource.Owner
	Generation uint64
	Digest     string // of the image; empty without one
	BootEnv    string // its name; empty without one
	// Intended is the method that was ordered, Observed the one that firmware used; empty where it is not known.
	Intended, Observed protocol.BootTarget
	// Restart says that a server was restarted which was not off.
	Restart bool
	// Course is what it has come through; the last is how it ended.
	Course   []decide.Passage
	Code     resource.AttemptCode // empty where it succeeded
	Reason   string               // for people
	Evidence protocol.EvidenceKind
	Class    resource.EvidenceClass
	// Rows are what was seen meanwhile, in order; some may be missing.
	Rows []resource.TraceRow
}

// Of returns the facts of an attempt at a server, without rows. The second result is false where the attempt has not
// ended, and for a boot that nobody ordered, which has no course.
func Of(rack, server string, a *decide.Attempt) (Boot, bool) {
	if a == nil || a.Open() || len(a.Stage.Course) == 0 {
		return Boot{}, false
	}
	return boot(rack, server, a), true
}

// Dropped returns the facts of an attempt that was open when another took its place, at a moment.
func Dropped(rack, server string, a *decide.Attempt, at time.Time) (Boot, bool) {
	if !a.Open() || len(a.Stage.Course) == 0 {
		return Boot{}, false
	}
	b := boot(rack, server, a)
	b.Course, b.Code, b.Reason = append(b.Course, decide.Passage{State: resource.AttemptFailed, At: at}), resource.AttemptWithdrawn, "another took its place"
	return b, true
}

func boot(rack, server string, a *decide.Attempt) Boot {
	b := Boot{
		Rack: rack, Server: server, Attempt: a.ID, Number: a.Number, Owner: resource.Owner{Kind: a.Order.Purpose.Or(), UID: a.Order.OwnerUID}, Generation: a.Order.Generation,
		Digest: a.Order.Digest, Intended: a.Order.Target, Observed: a.Stage.Observed, Restart: a.Order.Restart,
		Code: a.Stage.Ending.Code, Reason: a.Stage.Ending.Reason, Evidence: a.Stage.Evidence, Class: a.Stage.Class,
	}
	b.Course = append(b.Course, a.Stage.Course...)
	return b
}
