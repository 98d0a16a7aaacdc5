package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// SyncSnapshot is what the meaning of a Sync depends on.
type SyncSnapshot struct {
	Session     string    // the present one
	Last        time.Time // when the last Sync or document of it was made that was heeded
	Incarnation string
	Fence       message.Fence // the highest followed
	Applied     map[string]protocol.Head
	Digests     map[string]string
	// HubKept is what the agent was told last of the hub's store, and HubSaid what the Sync says; zero
	// is nothing.
	HubKept, HubSaid message.HubHead
}

// SyncAction is what to make of a Sync.
type SyncAction string

// The actions.
const (
	SyncStop    SyncAction = "stop"    // the hub refuses this agent: it starts nothing
	SyncIgnore  SyncAction = "ignore"  // of another session, or late on its way
	SyncDoubt   SyncAction = "doubt"   // played back, or the hub's clock was set back: a question tells
	SyncRival   SyncAction = "rival"   // of a hub that another one has taken over from
	SyncRenew   SyncAction = "renew"   // take a new incarnation, and say Hello
	SyncAgain   SyncAction = "again"   // say Hello with its nonce
	SyncBehind  SyncAction = "behind"  // the hub has less than it once sent
	SyncHeed    SyncAction = "heed"    // it is there, and says nothing of documents
	SyncLacking SyncAction = "lacking" // an answer, and there are documents to come
	SyncAnswer  SyncAction = "answer"  // an answer, and the agent has everything
)

// SyncActions lists all actions.
func SyncActions() []SyncAction {
	return []SyncAction{SyncStop, SyncIgnore, SyncDoubt, SyncRival, SyncRenew, SyncAgain, SyncBehind, SyncHeed, SyncLacking, SyncAnswer}
}

// Contact says whether the hub answers the present session: it was heard, and it has
// heard the agent since the session began.
func (a SyncAction) Contact() bool {
	switch a {
	case SyncAgain, SyncBehind, SyncHeed, SyncLacking, SyncAnswer:
		return true
	case SyncStop, SyncIgnore, SyncDoubt, SyncRival, SyncRenew:
	}
	return false
}

// Sync decides what to make of a Sync whose signature was verified.
func Sync(s SyncSnapshot, m message.Sync) SyncAction {
	return syncRule(syncFacts{
		refused: m.Refused != "",
		mine:    m.Session != "" && m.Session == s.Session,
		at:      ageOfSync(m.At, s.Last),
		fence:   fenceOf(m.Fence, s.Fence),
		renew:   m.Renew != "" && m.Renew == s.Incarnation,
		again:   m.Again || m.Renew != "",
		heads:   headsOf(s, m),
	})
}

type syncFacts struct {
	refused, mine, again, renew bool
	at                          syncAge
	fence                       fenced
	heads                       heads
}

// syncAge is how a Sync compares with what was heeded before.
type syncAge string

const (
	syncNew   syncAge = "new"
	syncOld   syncAge = "old"
	syncOlder syncAge = "older" // by more than messages overtake one another
)

// syncOvertakes is how much later a message may come than one that was made after it.
const syncOvertakes = 5 * time.Second

func ageOfSync(at, last time.Time) syncAge {
	switch {
	case !at.Before(last):
		return syncNew
	case last.Sub(at) > syncOvertakes:
		return syncOlder
	}
	return syncOld
}

// fenced is how a hub's fence compares with the one followed.
type fenced string

const (
	fencedLower fenced = "lower"
	fencedRival fenced = "rival"
	fencedSame  fenced = "same"
	fencedNewer fenced = "newer"
)

func fenceOf(f, have message.Fence) fenced {
	switch {
	case f == have:
		return fencedSame
	case f.Newer(have):
		return fencedNewer
	case f.Rivals(have):
		return fencedRival
	default:
		return fencedLower
	}
}

// heads is how what the hub has compares with what the agent applied.
type heads string

const (
	headsNone   heads = "none"   // nothing is said
	headsBehind heads = "behind" // the agent has something newer, of no lower epoch, or was told of more
	headsMore   heads = "more"   // the hub has something newer, or something else
	headsSame   heads = "same"
)

// headsOf compares. A hub that was restored and raised its epoch since is ahead,
// whatever its versions are. The first two documents are made for every agent, so
// that a hub that knows none of them has lost them.
func headsOf(s SyncSnapshot, m message.Sync) heads {
	if m.Heads == nil {
		return headsNone
	}
	if HubHead(s.HubKept, s.HubSaid).Behind() {
		return headsBehind
	}
	epoch := m.Epoch
	for _, h := range m.Heads {
		epoch = max(epoch, h.Epoch)
	}
	for leaf, own := range s.Applied {
		hub, known := m.Heads[leaf]
		always := leaf == message.LeafHold || leaf == message.LeafRack+"/0"
		if (known || always) && own.Newer(hub) && epoch <= own.Epoch {
			return headsBehind
		}
	}
	for leaf, hub := range m.Heads {
		own, have := s.Applied[leaf]
		digest, said := m.Digests[leaf]
		if !have || hub != own || said && digest != s.Digests[leaf] {
			return headsMore
		}
	}
	return headsSame
}

// syncRule is the table of Syncs. The first row that fits decides.
//
//	refused | session | at    | fence | renew | again | heads  | action
//	yes     | *       | *     | *     | *     | *     | *      | stop
//	no      | other   | *     | *     | *     | *     | *      | ignore
//	no      | mine    | old   | lower | *     | *     | *      | ignore
//	no      | mine    | old   | rival | *     | *     | *      | ignore
//	no      | mine    | old   | same  | *     | *     | *      | ignore
//	no      | mine    | older | lower | *     | *     | *      | ignore
//	no      | mine    | older | rival | *     | *     | *      | ignore
//	no      | mine    | older | same  | *     | *     | *      | doubt
//	no      | mine    | *     | lower | *     | *     | *      | rival
//	no      | mine    | *     | rival | *     | *     | *      | rival
//	no      | mine    | *     | *     | yes   | *     | *      | renew
//	no      | mine    | *     | *     | no    | yes   | *      | again
//	no      | mine    | *     | *     | no    | no    | behind | behind
//	no      | mine    | *     | newer | no    | no    | none   | again
//	no      | mine    | *     | *     | no    | no    | none   | heed
//	no      | mine    | *     | *     | no    | no    | more   | lacking
//	no      | mine    | *     | *     | no    | no    | same   | answer
//
// A refusal is heeded whatever it names, because starting nothing is always safe.
// Everything else must answer the present session: what is of an earlier one may be
// late, or be played back by somebody (P11). Only an answer that is not behind gives
// hub time, and lets its hub take over. A hub whose clock was set back says nothing but
// what is older, until a session begins in which it has said nothing yet. A hub that takes
// over has a clock of its own: its fence is above all that was followed, so that no times
// of two hubs are compared.
func syncRule(f syncFacts) SyncAction {
	switch {
	case f.refused:
		return SyncStop
	case !f.mine:
		return SyncIgnore
	case f.at == syncOlder && f.fence == fencedSame:
		return SyncDoubt
	case f.at != syncNew && f.fence != fencedNewer:
		return SyncIgnore
	case f.fence == fencedLower, f.fence == fencedRival:
		return SyncRival
	case f.renew:
		return SyncRenew
	case f.again:
		return SyncAgain
	case f.heads == headsBehind:
		return SyncBehind
	case f.heads == headsNone && f.fence == fencedNewer:
		return SyncAgain
	case f.heads == headsNone:
		return SyncHeed
	case f.heads == headsMore:
		return SyncLacking
	default:
		return SyncAnswer
	}
}
