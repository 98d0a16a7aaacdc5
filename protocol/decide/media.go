package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// mediumBoot is how the boot stands that a medium is for.
type mediumBoot string

const (
	mediumPrepared mediumBoot = "prepared" // the override is not written yet
	mediumNeeded   mediumBoot = "needed"   // the attempt is open
	mediumRuns     mediumBoot = "runs"     // the image itself is what shall run
	mediumStops    mediumBoot = "stops"    // it ended, and the server is being stopped
	mediumOver     mediumBoot = "over"     // it ended, or another attempt came
)

// mediumRule says what to do about a medium. The first row that fits decides.
//
//	boot     | power | state     | action
//	prepared | off   | inserting | insert-media
//	prepared | *     | *         | none
//	needed   | *     | *         | none
//	*        | other | *         | none
//	runs     | on    | *         | none
//	stops    | on    | *         | none
//	*        | *     | *         | eject-media
//
// A medium is never ejected while its attempt is open, so that firmware is seen to have
// taken it before. A system that reads its files from the drive keeps it while it runs,
// and while it is shut down. An installer that has reported its end needs it no more:
// left in, a boot order that begins with the drive would install again.
func mediumRule(b mediumBoot, power running, state MediumState) ActionKind {
	switch {
	case b == mediumPrepared && power == isOff && state == MediumInserting:
		return ActInsert
	case b == mediumPrepared, b == mediumNeeded, power == isOther:
		return ActNone
	case (b == mediumRuns || b == mediumStops) && power == isOn:
		return ActNone
	}
	return ActEject
}

// insertRule says what an answer to an insert means. The first row that fits decides.
//
//	code        | busy | occupied | fate
//	none        | *    | *        | armed
//	*           | yes  | *        | waits
//	*           | no   | yes      | waits
//	unsupported | no   | no       | ends
//	*           | no   | no       | again
//
// occupied is that somebody else's medium is in a drive: it is not thrown out. The fates
// are those of overrides; armed is that it is in.
func insertRule(code protocol.Code, busy, occupied bool) fate {
	switch {
	case code == "":
		return fateArmed
	case busy, occupied:
		return fateWaits
	case code == protocol.CodeUnsupported:
		return fateEnds
	}
	return fateAgain
}

const (
	// ejectTries is how often ejecting is tried in vain before a boot from disk or the end
	// of a claim goes on without: a BMC that refuses it must not stop them for ever.
	ejectTries = 5
	ejectMax   = time.Minute
)

// mediaCode is the code of a failure of a boot by virtual media, which asks nobody for an
// address. out is that the medium was never inserted. The first row that fits decides.
//
//	code              | out | is
//	OverrideNotStored | yes | MediaRefused
//	PostRefused       | yes | MediaRefused
//	NoDHCP            | *   | MediaNotRead
//	FetchFailed       | *   | MediaNotRead
//	*                 | *   | the same
func mediaCode(code resource.AttemptCode, out bool) resource.AttemptCode {
	switch {
	case out && (code == resource.AttemptNotStored || code == resource.AttemptPostRefused):
		return resource.AttemptMediaRefused
	case code == resource.AttemptNoDHCP, code == resource.AttemptFetchFailed:
		return resource.AttemptMediaNotRead
	}
	return code
}

// MayReadMedium says whether the BMC may read the images of a medium now: while the attempt
// is open, and after it by a system that was seen to begin, until they are ejected. Such a
// system reads its files also while it is shut down for a hold.
func MayReadMedium(held, missing bool, a *Attempt, m *Medium, token string) bool {
	if m == nil || token == "" || m.Token != token || m.State == MediumOut || a == nil || a.ID != m.Attempt || missing {
		return false
	}
	return a.Marks.Served || a.Open() && !held
}
