package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// order is what an attempt is begun for. It does not change while the attempt lasts.
type order struct {
	target  protocol.BootTarget
	chain   *protocol.BootChain // nil for a boot from disk
	restart bool                // by ForceRestart
	// Of a boot from the network: the number of the attempt by its grant, whether that repeats,
	// and what an approval let through.
	number  int
	repeat  bool
	cleared ClearedBoot
}

// begin starts an attempt, by a restart or from Off. It is on disk before anything is
// sent.
func (at attempts) begin(o order) {
	b := at.s.Intent.Boot
	number, left := 1, protocol.BootTarget("")
	url, way := at.way(o.target)
	if a := at.d.rec.Attempt; a != nil && a.Disarm {
		left = a.Intended
	}
	if a := at.d.rec.Attempt; a != nil && a.State == resource.AttemptFailed && a.Intended == o.target {
		number = a.Number + 1
	}
	if o.number > 0 {
		number = o.number
	}
	if at.d.rec.Released == b.Owner.UID {
		at.d.rec.Released = "" // a hub that was restored goes on with what had ended
	}
	at.d.rec.Attempt = &Attempt{
		ID: at.s.NewID, Token: at.s.NewToken, State: resource.AttemptPreparing,
		Since: at.d.now, At: at.d.now, Number: number, Intended: o.target,
		OwnerUID: b.Owner.UID, Generation: b.Generation, Digest: b.Image.Digest,
		Chain: o.chain, Epoch: at.d.rec.Epoch, Left: left, Purpose: b.Owner.Kind, Restart: o.restart, Timeout: b.Timeout,
		URI: url, Reach: b.Reach, Repeat: o.repeat, Cleared: o.cleared,
	}
	if o.chain != nil {
		at.d.rec.Attempt.Ignition = b.Ignition
		at.d.rec.Attempt.File = o.chain.First
		at.d.rec.Attempt.Blob, _ = o.chain.Digest(o.chain.First)
	}
	if byMedium(o.target) {
		at.drives().begin(at.d.rec.Attempt, at.s.NewMedium)
	}
	at.d.dirty = true
	at.d.happened(resource.EventAttemptBegun, "%s boot for the %s%s", o.target, b.Owner.Kind.Or(), way)
	at.advance()
}

// way says whether the attempt that begins is given its URL, and why if the one before is
// the reason.
func (at attempts) way(target protocol.BootTarget) (url bool, why string) {
	b := at.s.Intent.Boot
	if !methodOf(target).url {
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
	at.rearming().forget()
	at.begin(order{target: protocol.TargetHdd, restart: true})
}

// restarted notes that the server restarted by itself and firmware took the disk.
func (at attempts) restarted() {
	in := at.s.Intent
	if in == nil || in.Boot == nil {
		return
	}
	left := protocol.BootTarget("")
	if a := at.d.rec.Attempt; a != nil && a.Disarm {
		left = a.Intended
	}
	at.d.rec.Attempt = &Attempt{
		ID: at.s.NewID, State: resource.AttemptSucceeded, Since: at.d.now, At: at.d.now, Number: 1, Left: left, Disarm: left != "",
		Intended: protocol.TargetHdd, Observed: protocol.TargetHdd, OwnerUID: in.Owner.UID, Generation: in.Boot.Generation,
		Digest: in.Boot.Image.Digest, Epoch: at.d.rec.Epoch, Purpose: in.Boot.Owner.Kind,
	}
	at.d.rec.Epoch++
	at.d.rec.Ordered = at.d.now // what its LastResetTime shows is this
	at.d.poweredOn(at.d.now, bootedFor(in))
	at.d.happened(resource.EventDiskBoot, "restarted by itself; firmware took the disk")
}
