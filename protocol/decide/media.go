package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Medium is what the BMC holds in its virtual drives for a boot. It is on disk before the
// image is inserted, and until it was ejected, whatever becomes of the attempt.
type Medium struct {
	Attempt string      `json:"attempt"` // its id
	Token   string      `json:"token"`   // in the URLs of its images; never printed
	State   MediumState `json:"state"`
	Blob    string      `json:"blob"` // digest of the image that firmware boots
	// Config says that a second drive has the config image.
	Config bool `json:"config,omitempty"`
}

// MediumState is how far it has come.
type MediumState string

// The states.
const (
	MediumInserting MediumState = "inserting" // inserted, or about to be
	MediumIn        MediumState = "in"        // and read back
	MediumOut       MediumState = "out"       // to be ejected; it is served no more
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

func (p *step) mediumBoot() mediumBoot {
	a, in := p.rec.Attempt, p.snap.Intent
	switch {
	case a == nil || a.ID != p.rec.Medium.Attempt:
		return mediumOver
	case a.State == resource.AttemptPreparing:
		return mediumPrepared
	case a.Open():
		return mediumNeeded
	case p.rec.Stop != nil || a.Cleanup:
		return mediumStops
	case a.State == resource.AttemptSucceeded && a.Repeat && in != nil && in.Owner.UID == a.OwnerUID:
		return mediumRuns
	}
	return mediumOver
}

func (p *step) mediumAction() ActionKind {
	if p.rec.Medium == nil {
		return ActNone
	}
	return mediumRule(p.mediumBoot(), runningOf(p.watch.Last.Power), p.rec.Medium.State)
}

// insert has the medium of the open attempt inserted, and says whether that has to come
// before the override.
func (p *step) insert() bool {
	if p.mediumAction() != ActInsert {
		return false
	}
	p.act(Action{Kind: ActInsert, Attempt: p.rec.Attempt.ID})
	return true
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

func (p *step) insertResult(r Result) {
	a, m := p.rec.Attempt, p.rec.Medium
	if a == nil || m == nil || m.Attempt != r.Attempt || a.ID != r.Attempt || a.State != resource.AttemptPreparing {
		return
	}
	p.watch.Occupied = ""
	switch insertRule(r.Code, r.Busy, r.Occupied) {
	case fateArmed:
		m.State, m.Config = MediumIn, r.Config
		p.enter(a.State) // the override has a time of its own
		if r.Config {
			p.happened(resource.EventMediaInserted, "%s, and the config image in a second drive; read back", m.Blob)
		} else {
			p.happened(resource.EventMediaInserted, "%s; read back", m.Blob)
		}
	case fateEnds:
		p.fail("the BMC cannot insert the image: "+r.Message, resource.AttemptMediaRefused)
	case fateWaits:
		if p.now.Sub(a.Since) > armTimeout/2 {
			p.enter(a.State) // it does not run out the attempt's time
		}
		if r.Occupied {
			p.watch.Occupied = r.Message
		} else {
			p.refused(r)
		}
		p.watch.NextTry = p.now.Add(pauseOf(attemptBackoff, r))
	case fateAgain:
		p.refused(r)
		p.watch.NextTry = p.now.Add(pauseOf(attemptBackoff, r))
	}
}

// EjectWatch is how often ejecting has failed in a row.
type EjectWatch struct {
	Tries int
	Next  time.Time
	Why   string
}

const (
	// ejectTries is how often ejecting is tried in vain before a boot from disk or the end
	// of a claim goes on without: a BMC that refuses it must not stop them for ever.
	ejectTries = 5
	ejectMax   = time.Minute
)

// eject has a medium ejected whose boot has ended. While a hold has no receipt, the time
// between two reads is the proof's.
func (p *step) eject() {
	if p.mediumAction() != ActEject || p.snap.BMCError != nil || len(p.snap.Holds) > 0 && p.unproved() {
		return
	}
	m := p.rec.Medium
	if m.State != MediumOut {
		m.State, p.dirty = MediumOut, true
	}
	if p.now.Before(p.watch.Eject.Next) {
		p.recheckAt(p.watch.Eject.Next)
		return
	}
	p.act(Action{Kind: ActEject, Attempt: m.Attempt})
	p.recheck(activeInterval)
}

// ejectFirst is eject ahead of a power-on by something else, or of a claim's end, and says
// whether that has to wait.
func (p *step) ejectFirst() bool {
	if p.rec.Medium == nil || p.watch.Eject.Tries >= ejectTries {
		return false
	}
	p.eject()
	return p.mediumAction() == ActEject
}

func (p *step) ejectResult(r Result) {
	m := p.rec.Medium
	if m == nil || m.Attempt != r.Attempt {
		return
	}
	if r.Code == "" || r.Code == protocol.CodeUnsupported && !r.Busy { // where none can be inserted, none is left
		p.rec.Medium, p.watch.Eject, p.dirty = nil, EjectWatch{}, true
		p.happened(resource.EventMediaEjected, "")
		return
	}
	w := &p.watch.Eject
	w.Why = r.Message
	w.Next = p.now.Add(pauseOf(min(attemptBackoff<<min(w.Tries, 10), ejectMax), r))
	w.Tries++
}

// mediumRead is what a BMC was seen to read of a medium.
type mediumRead string

// What is read.
const (
	MediumWhole mediumRead = "whole" // all of it, in this run of the agent
)

// cached notes that a BMC has all of a medium before the server is powered on: it needs
// not read it again, so that reads are no evidence.
func (p *step) cached(e Event) {
	a, m := p.rec.Attempt, p.rec.Medium
	if e.Medium == MediumWhole && a.Open() && m != nil && m.Attempt == a.ID && m.Token == e.Token && a.OnSent.IsZero() && !a.Cached {
		a.Cached, p.dirty = true, true
	}
}

// tookCached goes on from Consumed where reads are no evidence: what firmware booted was in the
// BMC, and the installer may run.
func (p *step) tookCached() {
	a := p.rec.Attempt
	if !a.Cached || a.State != resource.AttemptConsumed {
		return
	}
	p.enter(resource.AttemptFetched)
	p.rec.ran()
	a.Evidence, a.Served, a.Observed = protocol.EvidenceFetched, true, a.Intended
	p.happened(resource.EventFetched, "%s, by the BMC before the power-on", a.last())
}

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

// mediaFailure puts a failure of a boot by virtual media into its words.
func (p *step) mediaFailure(reason string, code resource.AttemptCode) (string, resource.AttemptCode) {
	m := p.rec.Medium
	is := mediaCode(code, m == nil || m.State == MediumInserting)
	switch {
	case is == code:
	case is == resource.AttemptMediaRefused:
		reason = "the BMC did not take the image into its drive in time"
	case p.watch.Last.Power == protocol.PowerOn:
		reason = "the BMC was not seen to read the image in time"
	}
	return reason, is
}

func (p *step) deriveMedia() {
	a, m := p.rec.Attempt, p.rec.Medium
	switch {
	case m == nil:
	case a.Open() && a.ID == m.Attempt && a.State == resource.AttemptPreparing && p.watch.Occupied != "":
		p.raise(resource.CondMediaOccupied, "%s", p.watch.Occupied)
	case a.Open() && a.ID == m.Attempt && m.State == MediumIn && !m.Config:
		p.raise(resource.CondNoConfigDrive, "")
	case m.State == MediumOut && p.watch.Eject.Tries > 0:
		p.raise(resource.CondMediaNotEjected, "%s", p.watch.Eject.Why)
	}
}

// MayReadMedium says whether the BMC may read the images of a medium now: while the attempt
// is open, and after it by a system that was seen to begin, until they are ejected. Such a
// system reads its files also while it is shut down for a hold.
func MayReadMedium(held, missing bool, a *Attempt, m *Medium, token string) bool {
	if m == nil || token == "" || m.Token != token || m.State == MediumOut || a == nil || a.ID != m.Attempt || missing {
		return false
	}
	return a.Served || a.Open() && !held
}
