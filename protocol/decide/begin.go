package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// begin starts an attempt, by a restart or from Off. It is on disk before anything is
// sent.
func (at attempts) begin(target protocol.BootTarget, chain *protocol.BootChain, restart bool) {
	b := at.s.Intent.Boot
	number, left := 1, protocol.BootTarget("")
	url, way := at.way(target)
	if a := at.d.rec.Attempt; a != nil && a.Disarm {
		left = a.Intended
	}
	if a := at.d.rec.Attempt; a != nil && a.State == resource.AttemptFailed && a.Intended == target {
		number = a.Number + 1
	}
	if at.d.rec.Released == b.Owner.UID {
		at.d.rec.Released = "" // a hub that was restored goes on with what had ended
	}
	at.d.rec.Attempt = &Attempt{
		ID: at.s.NewID, Token: at.s.NewToken, State: resource.AttemptPreparing,
		Since: at.d.now, At: at.d.now, Number: number, Intended: target,
		OwnerUID: b.Owner.UID, Generation: b.Generation, Digest: b.Image.Digest,
		Chain: chain, Epoch: at.d.rec.Epoch, Left: left, Purpose: b.Owner.Kind, Restart: restart, Timeout: b.Timeout,
		URI: url, Reach: b.Reach,
	}
	if chain != nil {
		at.d.rec.Attempt.Ignition = b.Ignition
		at.d.rec.Attempt.File = chain.First
		at.d.rec.Attempt.Blob, _ = chain.Digest(chain.First)
	}
	if target == protocol.TargetCd {
		at.d.rec.Medium = &Medium{Attempt: at.d.rec.Attempt.ID, Token: at.s.NewMedium, State: MediumInserting, Blob: at.d.rec.Attempt.Blob}
		at.d.watch.Occupied, at.d.watch.Eject = "", EjectWatch{}
	}
	at.d.dirty = true
	at.d.happened(resource.EventAttemptBegun, "%s boot for the %s%s", target, b.Owner.Kind.Or(), way)
	at.advance()
}

// way says whether the attempt that begins is given its URL, and why if the one before is
// the reason.
func (at attempts) way(target protocol.BootTarget) (url bool, why string) {
	b := at.s.Intent.Boot
	if target != protocol.TargetUefiHTTP {
		return false, ""
	}
	before, ended := at.d.rec.wayOf(b, target)
	url = wayRule(b.Reach, before, ended)
	switch {
	case b.Reach == resource.ReachURI:
		return url, ", by a URL in the BMC"
	case url && before == wayDHCP:
		return url, ", by a URL in the BMC, because that by DHCP ended with " + string(ended)
	case url:
		return url, ", by a URL in the BMC as before"
	case before == wayURL:
		return url, ", by DHCP, because that by a URL in the BMC ended with " + string(ended)
	}
	return url, ""
}

// restart begins a boot from disk of a server that is not Off, for a resume.
func (at attempts) restart() {
	at.d.rec.Rearm = nil // what may be left of it is the same override
	at.begin(protocol.TargetHdd, nil, true)
}
