package link

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// relation is what a Hello says of the agent's database, against the ledger.
type relation string

const (
	peerNone  relation = "none"  // no database of this agent is known
	peerOther relation = "other" // another one than the ledger's
	peerNews  relation = "news"  // the same, not greeted since the hub started, or an agent of another release
	peerSame  relation = "same"
)

// verdict is what the hub does about a Hello.
type verdict string

const (
	verdictAsk    verdict = "ask"    // ask for another Hello with a new nonce
	verdictMeet   verdict = "meet"   // a new database: record it, forget its acknowledgements
	verdictRenew  verdict = "renew"  // the disk was rolled back: have it take a new incarnation
	verdictAnswer verdict = "answer" // say what the agent should have
	verdictGuard  verdict = "guard"  // in guard mode: conclude nothing from what it lacks
)

// greet decides what becomes of a Hello. Nothing that cannot be taken back is
// concluded from one that may be old. The first row that fits counts.
//
//	guard  | peer  | lost | proof | verdict
//	says   | *     | *    | none  | ask
//	says   | *     | *    | *     | guard
//	unsure | *     | *    | *     | ask
//	*      | none  | *    | sure  | meet
//	*      | none  | *    | *     | ask
//	*      | other | *    | sure  | meet
//	*      | other | *    | *     | ask
//	*      | news  | *    | none  | ask
//	*      | *     | no   | *     | answer
//	*      | *     | yes  | sure  | renew
//	*      | *     | yes  | *     | ask
func greet(g guardWord, peer relation, lost bool, p proof) verdict {
	switch {
	case g == guardSays && p != proofNone:
		return verdictGuard
	case g == guardSays || g == guardUnsure:
		return verdictAsk
	case peer == peerNone || peer == peerOther:
		if p == proofSure {
			return verdictMeet
		}
		return verdictAsk
	case peer == peerNews && p == proofNone:
		return verdictAsk
	case !lost:
		return verdictAnswer
	case p == proofSure:
		return verdictRenew
	}
	return verdictAsk
}

// relate compares a Hello with the ledger's peer. greeted says whether the agent was
// greeted since the hub started.
func relate(p store.Peer, m message.Hello, greeted bool) relation {
	switch {
	case p.Incarnation == "":
		return peerNone
	case p.Incarnation != m.Incarnation:
		return peerOther
	case !greeted || !samePeer(p, peerOf(m)):
		return peerNews
	}
	return peerSame
}

// lost says whether an agent lacks what it had acknowledged, of what had been
// acknowledged at two moments: a document, or the number of an event.
func lost(l *store.Ledger, before map[string]protocol.Head, m message.Hello) bool {
	for leaf, now := range l.Acked {
		then, ok := before[leaf]
		if !ok {
			continue
		}
		if now.Newer(then) {
			now = then
		}
		if strings.HasPrefix(leaf, ackPrefix) {
			if leaf == ackPrefix+m.Incarnation && now.Version > m.EventHead {
				return true
			}
			continue
		}
		if _, sent := l.Sent[leaf]; sent && now.Newer(m.Applied[leaf]) {
			return true
		}
	}
	return false
}

// standing says which document of the agent this hub never made, if there is one,
// and whether the ledger knows of all that the agent has: each document is the one that was sent last, or one
// between the last acknowledged and that. So is the one of a hub that died with another on its way. An epoch above the
// agent's was raised by the operator, who knows of the loss. digests is nil where only
// heads were said, as in a report.
func standing(l *store.Ledger, epoch uint64, applied map[string]protocol.Head, digests map[string]string) (behind string, known bool) {
	known = true
	last := protocol.Head{Epoch: epoch, Version: Latest(*l)}
	for _, leaf := range slices.Sorted(maps.Keys(applied)) {
		has := applied[leaf]
		s, ok := l.Sent[leaf]
		if ok && has == s.Head && (digests == nil || digests[leaf] == s.Sealed) {
			continue
		}
		acked, was := l.Acked[leaf]
		known = known && ok && was && has.Epoch == epoch && s.Head.Newer(has) && !acked.Newer(has)
		if !ok {
			s.Head = last
		}
		if other := ok && has == s.Head; behind == "" && has.Epoch >= epoch && (other || has.Newer(s.Head)) {
			behind = fmt.Sprintf("the agent has %s %d/%d and the hub's is %d/%d", leaf, has.Epoch, has.Version, s.Head.Epoch, s.Head.Version)
			if other {
				behind += " with another content"
			}
		}
	}
	for leaf := range l.Sent {
		_, has := applied[leaf]
		known = known && has // else it may be a disk of before
	}
	return behind, known
}
