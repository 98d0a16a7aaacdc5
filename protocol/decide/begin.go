package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// begin starts an attempt, by a restart or from Off. It is on disk before anything is
// sent.
func (at attempts) begin(c choice) {
	b := at.s.Intent.Boot
	number, over := 1, at.over()
	var way string
	if c.url, way = at.way(c.target); c.through == ThroughURL {
		c.url, way = true, ", by a URL in the BMC"
	}
	if a := at.d.rec.Attempt; a != nil && a.Stage.State == resource.AttemptFailed && a.Order.Target == c.target {
		number = a.Number + 1
	}
	if c.number > 0 {
		number = c.number
	}
	if at.d.rec.Owners.Released == b.Owner.UID {
		at.d.rec.Owners.Released = "" // a hub that was restored goes on with what had ended
	}
	at.d.rec.takesBack(b.Owner.UID)
	at.d.rec.Attempt = &Attempt{
		ID: at.s.NewID, Token: at.s.NewToken, At: at.d.now, Number: number, Order: newOrder(b.Owner.UID, b, c),
		Stage: begunStage(at.d.now, at.d.rec.Shown.Epoch, over),
	}
	if c.through != ThroughNothing {
		at.d.rec.Attempt.Private = at.s.NewPrivate
	}
	if byMedium(c.target) || c.through == ThroughMedium {
		at.drives().begin(at.d.rec.Attempt, at.s.NewMedium)
	}
	at.d.dirty = true
	at.d.happened(resource.EventAttemptBegun, "%s boot for the %s%s", c.target, b.Owner.Kind.Or(), way)
	at.advance()
}

// setup begins a power-on into the firmware's own menus, from Off: POST takes the settings that wait for
// it, and nothing boots. It returns its id.
func (at attempts) setup(number int) string {
	in, over := at.s.Intent, at.over()
	if at.d.rec.Owners.Released == in.Owner.UID {
		at.d.rec.Owners.Released = ""
	}
	at.d.rec.takesBack(in.Owner.UID)
	at.d.rec.Attempt = &Attempt{
		ID: at.s.NewID, At: at.d.now, Number: number, Order: newOrder(in.Owner.UID, &message.BootIntent{Owner: in.Owner}, choice{target: protocol.TargetSetup}),
		Stage: begunStage(at.d.now, at.d.rec.Shown.Epoch, over),
	}
	at.d.dirty = true
	at.d.happened(resource.EventAttemptBegun, "%s for the %s", protocol.TargetSetup, in.Owner.Kind.Or())
	at.advance()
	return at.s.NewID
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

// restart begins a boot from disk of a server that is not Off, for a resume, or for a reboot of a server
// that is never powered off.
func (at attempts) restart() {
	at.rearming().forget()
	s := at.requests().resuming()
	at.begin(choice{target: protocol.TargetHdd, restart: true, soft: s != nil && s.Restart && s.Mode != resource.StopHard})
}

// restarted notes that the server restarted by itself and firmware took the disk.
func (at attempts) restarted() {
	in := at.s.Intent
	if in == nil || in.Boot == nil {
		return
	}
	over := at.over()
	if over != "" {
		at.disarms()
	}
	at.d.rec.Attempt = &Attempt{
		ID: at.s.NewID, At: at.d.now, Number: 1, Order: newOrder(in.Owner.UID, in.Boot, choice{target: protocol.TargetHdd}),
		Stage: Stage{State: resource.AttemptSucceeded, Since: at.d.now, Epoch: at.d.rec.Shown.Epoch, Arming: Arming{Over: over}, Observed: protocol.TargetHdd},
	}
	at.d.rec.Shown.Epoch++
	at.d.rec.Ordered = at.d.now // what its LastResetTime shows is this
	at.d.poweredOn(at.d.now, bootedFor(in))
	at.d.happened(resource.EventDiskBoot, "restarted by itself; firmware took the disk")
}

// over is the target of the attempt that another takes the place of, if its override may still be
// armed. What else that attempt has left is the other's from here on.
func (at attempts) over() (target protocol.BootTarget) {
	if a := at.d.rec.Attempt; a != nil && at.d.rec.Residue.has(LeftOverride) {
		target = a.Order.Target
	}
	at.d.rec.Residue.drop(LeftOverride, LeftRunning)
	return target
}
