package decide

import (
	"fmt"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// grantKey is the key of a grant's use.
func grantKey(b *message.BootIntent) string {
	return provisionKey(b.Owner.UID, b.Generation)
}

func provisionKey(uid string, generation uint64) string { return fmt.Sprintf("%s/%d", uid, generation) }

// provisioned says whether the configuration's first boot has ended well: by
// the agent's own record, or the hub's verified echo of one.
func provisioned(b *message.BootIntent, r *Record, echo *resource.Provisioned) bool {
	return r.ProvisionedFor(b.Owner.UID, b.Generation) != nil ||
		echo != nil && echo.OwnerUID == b.Owner.UID && echo.Generation == b.Generation
}

// run brings the server to On with the boot that its claim prescribes.
func (p *step) run() {
	in := p.snap.Intent
	a := p.rec.Attempt
	if a != nil && a.OwnerUID != in.Owner.UID {
		if p.succeed() {
			return
		}
		a = nil
	}
	if a.Open() && p.strange() && p.halts(a) {
		p.abandon("the server shows another identity", resource.AttemptIdentity)
		return
	}
	if a.Open() && p.halts(a) && p.unapproved(a) {
		p.abandon("its boot needs an approval and has none", resource.AttemptWithdrawn)
		return
	}
	if a.Open() && p.superseded() {
		return
	}
	if a.Open() {
		p.advance()
		return
	}
	if a != nil && p.late() {
		return
	}
	if p.clean() {
		return
	}
	if st := p.rec.Stop; st != nil || p.trig == triggerOff {
		// What was sent cannot be called back, and what was asked is done: the server
		// goes to Off, and starts again from there.
		mode := resource.StopSoft
		if st != nil {
			mode = st.Mode
		}
		p.stop(mode, p.snap.Settings.SoftTimeout)
		if p.rec.Stop != nil {
			return
		}
	}
	if p.discover() {
		return
	}
	if p.strange() {
		return // derive says so
	}
	if in.Boot == nil {
		return // the hub has not validated the image yet; it says so itself
	}
	done := !always(in.Boot) && provisioned(in.Boot, &p.rec, p.snap.Echo)
	if !done {
		p.plan.Fetch = true
	}
	if p.trig == triggerOn || p.resuming() != nil {
		p.renewGrant()
	}
	if done && p.watch.Last.Power != protocol.PowerOff && p.rec.Power == protocol.PowerOn && p.restart() {
		return
	}
	switch runningOf(p.watch.Last.Power) {
	case isOn:
		if p.take(done) {
			return
		}
		if a != nil && a.Repeat && a.State == resource.AttemptSucceeded {
			return
		}
		if discovering(in) && !in.PowerCycle {
			p.raise(resource.CondServerOn, "it was found On; the discovery does not stop it, because spec.discovery.allowPowerCycle of its rack is not set")
		}
		if !done && (a == nil || a.State != resource.AttemptFailed || a.Abandoned) {
			p.raise(resource.CondServerOn, "")
		}
		return
	case isOther, isPaused:
		p.recheck(activeInterval)
		return
	case isOff:
		if p.awaitQuiet() {
			return
		}
	}
	if p.now.Before(p.watch.NextTry) {
		p.recheckAt(p.watch.NextTry)
		return
	}
	if (p.trig == triggerOn || p.resuming() != nil) && p.rec.Unexpected != nil {
		p.rec.Unexpected, p.dirty = nil, true // it was asked for, and came by itself
	}
	if p.putBack() || p.clearURLFirst() {
		return
	}
	if (done || in.Boot.BootPolicy.FirstBoot != resource.FirstBootVirtualMedia) && p.ejectFirst() {
		return
	}
	if done {
		if u := p.rec.Unexpected; u != nil && u.To == protocol.PowerOff {
			return // an operator resumes it (P5); deriveBMC says so
		}
		p.rec.Rearm = nil // what may be left of it is the same override
		p.begin(protocol.TargetHdd, nil, false)
		return
	}
	if !p.dropRearm() {
		p.firstBoot()
	}
}

// halts says whether an attempt still has something to send that must not be sent to
// another server. One that came to run is watched to its end.
func (p *step) halts(a *Attempt) bool {
	switch a.State {
	case resource.AttemptPreparing, resource.AttemptArmed:
		return true
	case resource.AttemptPowerRequested:
		return p.watch.Last.Power == protocol.PowerOff
	case resource.AttemptConsumed, resource.AttemptFetched, resource.AttemptSucceeded, resource.AttemptFailed:
	}
	return false
}

// firstBoot begins a network boot if everything that it needs is there (P4, P7).
func (p *step) firstBoot() {
	b := p.snap.Intent.Boot
	switch b.BootPolicy.FirstBoot {
	case resource.FirstBootUefiHTTP, resource.FirstBootPxe:
	case resource.FirstBootVirtualMedia:
		if why := p.snap.MediaError; why != "" {
			p.raise(resource.CondUnsupportedBoot, "first boot %s: %s", b.BootPolicy.FirstBoot, why)
			return
		}
	default:
		p.raise(resource.CondUnsupportedBoot, "first boot %s", b.BootPolicy.FirstBoot)
		return
	}
	c := p.snap.Chain
	if c == nil {
		p.raise(resource.CondNoBootChain, "%s", p.snap.ChainError)
		return
	}
	if b.Reach == resource.ReachURI && c.Kind == protocol.ChainIPXE {
		p.raise(resource.CondNoBootChain, "the server has reach uri, and iPXE asks by DHCP what to do; a UKI, or shim and GRUB, do not")
		return
	}
	g := p.snap.Grant
	if g == nil {
		if p.snap.GrantError != "" {
			p.raise(resource.CondGrantInvalid, "%s", p.snap.GrantError)
		} else {
			p.raise(resource.CondGrantMissing, "")
		}
		return
	}
	if why := grantFits(g, p.snap.Intent); why != "" {
		p.raise(resource.CondGrantInvalid, "%s", why)
		return
	}
	if n := p.rec.installedBefore(b); n != nil && !overRule(always(b), true, g.Over) {
		p.raise(resource.CondGrantInvalid, "%s was installed for the claim before this boot came, and is kept; to install over it, delete the claim and create it again", n.ImageDigest)
		return
	}
	use := p.again(b, p.retry(grantKey(b), p.rec.Used[grantKey(b)], g.MaxAttempts))
	if use.Ran {
		p.raise(resource.CondUnexpectedPower, "went Off after its boot files were fetched; it boots from the network again by an order only")
		return
	}
	left := !use.Spent && use.Attempts < g.MaxAttempts
	switch grantRule(p.snap.foreign(b.GrantFor), left, p.snap.Artefacts.Local, !p.snap.HubTime.IsZero()) {
	case grantForeign:
		p.raise(resource.CondGrantInvalid, "the grant was given to another disk of the agent, which was replaced, lost or rolled back, and may have been used; delete the claim and create it again")
		return
	case grantWaits:
		p.raise(resource.CondAwaitingHub, "first boot")
		return
	case grantSpent, grantFiles: // derive says so
		return
	case grantUse:
	}
	if !p.approve(&use) {
		return
	}
	use.Attempts++
	use.Repeat, use.At = g.Repeat, p.now
	if p.rec.Used == nil {
		p.rec.Used = map[string]GrantUse{}
	}
	p.rec.Used[grantKey(b)] = use
	p.happened(resource.EventGrantUsed, "attempt %d of %d, chain %s", use.Attempts, g.MaxAttempts, c.Kind)
	p.begin(b.BootPolicy.FirstBoot.Target(), c, false)
	p.rec.Attempt.Number, p.rec.Attempt.Repeat, p.rec.Attempt.Cleared = use.Attempts, g.Repeat, use.Cleared
}

// granted is what becomes of a grant that fits.
type granted string

const (
	grantUse     granted = "use"
	grantForeign granted = "foreign"
	grantSpent   granted = "spent"
	grantFiles   granted = "files"
	grantWaits   granted = "waits"
)

// grantRule says whether a grant may be used for a new attempt. The first row that
// fits decides.
//
//	given   | left | files | hub     | answer
//	foreign | *    | *     | *       | foreign
//	own     | no   | *     | *       | spent
//	own     | yes  | away  | *       | files
//	own     | yes  | local | unheard | waits
//	own     | yes  | local | heard   | use
//
// Another incarnation than the one that the grant was given to cannot know whether
// it was used. One that the hub was not heard to confirm may be a rolled-back one.
func grantRule(foreign, left, local, heard bool) granted {
	switch {
	case foreign:
		return grantForeign
	case !left:
		return grantSpent
	case !local:
		return grantFiles
	case !heard:
		return grantWaits
	default:
		return grantUse
	}
}

// grantFits says why a grant does not permit the intent's first boot; empty if
// it does.
func grantFits(g *message.Grant, in *message.ServerIntent) string {
	b := in.Boot
	switch {
	case g.ServerUID != in.UID || g.Server != in.Server:
		return "the grant is for server " + g.Server
	case g.OwnerUID != b.Owner.UID || g.Generation != b.Generation:
		return "the grant is for another claim or generation"
	case g.Purpose.Or() != b.Owner.Kind.Or():
		return "the grant is for a " + string(g.Purpose.Or())
	case g.Repeat != always(b):
		return "the grant repeats or is for one boot, and the boot policy says otherwise"
	case g.ImageDigest != b.Image.Digest:
		return "the grant is for image " + g.ImageDigest
	case g.MaxAttempts < 1:
		return "the grant allows no attempt"
	case g.FirstBoot != b.BootPolicy.FirstBoot:
		return "the grant is for first boot " + string(g.FirstBoot)
	}
	return ""
}

// begin starts an attempt, by a restart or from Off. It is on disk before anything is
// sent.
func (p *step) begin(target protocol.BootTarget, chain *protocol.BootChain, restart bool) {
	b := p.snap.Intent.Boot
	number, left := 1, protocol.BootTarget("")
	url, way := p.way(target)
	if a := p.rec.Attempt; a != nil && a.Disarm {
		left = a.Intended
	}
	if a := p.rec.Attempt; a != nil && a.State == resource.AttemptFailed && a.Intended == target {
		number = a.Number + 1
	}
	if p.rec.Released == b.Owner.UID {
		p.rec.Released = "" // a hub that was restored goes on with what had ended
	}
	p.rec.Attempt = &Attempt{
		ID: p.snap.NewID, Token: p.snap.NewToken, State: resource.AttemptPreparing,
		Since: p.now, At: p.now, Number: number, Intended: target,
		OwnerUID: b.Owner.UID, Generation: b.Generation, Digest: b.Image.Digest,
		Chain: chain, Epoch: p.rec.Epoch, Left: left, Purpose: b.Owner.Kind, Restart: restart, Timeout: b.Timeout,
		URI: url, Reach: b.Reach,
	}
	if chain != nil {
		p.rec.Attempt.Ignition = b.Ignition
		p.rec.Attempt.File = chain.First
		p.rec.Attempt.Blob, _ = chain.Digest(chain.First)
	}
	if target == protocol.TargetCd {
		p.rec.Medium = &Medium{Attempt: p.rec.Attempt.ID, Token: p.snap.NewMedium, State: MediumInserting, Blob: p.rec.Attempt.Blob}
		p.watch.Occupied, p.watch.Eject = "", EjectWatch{}
	}
	p.dirty = true
	p.happened(resource.EventAttemptBegun, "%s boot for the %s%s", target, b.Owner.Kind.Or(), way)
	p.advance()
}

// abandon ends an open attempt because the server shall not run, or not for its
// claim any more. If it shall again before it was stopped, it is stopped all the
// same: nobody watched what it booted.
func (p *step) abandon(why string, code resource.AttemptCode) {
	a := p.rec.Attempt
	a.Cleanup = a.State != resource.AttemptPreparing && a.State != resource.AttemptArmed
	a.Abandoned = true
	p.fail(why, code)
	p.watch.NextTry, p.watch.Backoff = p.now, 0
}

// clean clears what a failed attempt left: an override that nothing consumed,
// and a server that runs what the attempt could not complete. It reports
// whether there was something to do.
func (p *step) clean() bool {
	a := p.rec.Attempt
	if a == nil || a.State != resource.AttemptFailed {
		return false
	}
	switch {
	case a.Cleanup && p.watch.Last.Power == protocol.PowerOff:
		if p.awaitQuiet() {
			return true // it may come on yet
		}
		a.Cleanup = false
		p.dirty = true
	case a.Cleanup && a.Abandoned:
		p.stop(resource.StopSoft, p.snap.Settings.SoftTimeout)
		return true
	case a.Cleanup:
		p.stop(resource.StopHard, 0)
		return true
	}
	return p.disarm()
}

// spend marks the grant of the record's attempt as used up.
func (p *step) spend(why string) {
	p.rec.spend(why)
	p.dirty = true
}

func (r *Record) spend(why string) {
	key := provisionKey(r.Attempt.OwnerUID, r.Attempt.Generation)
	use := r.Used[key]
	switch {
	case r.Attempt.forDiscovery():
		return // its attempts are counted, whatever they fetched
	case r.Attempt.Repeat:
		r.ran()
		return
	}
	use.Spent, use.Reason = true, why
	if r.Used == nil {
		r.Used = map[string]GrantUse{}
	}
	r.Used[key] = use
}

// ran notes that the files of the record's attempt were fetched, for a grant that
// repeats.
func (r *Record) ran() {
	key := provisionKey(r.Attempt.OwnerUID, r.Attempt.Generation)
	if use, ok := r.Used[key]; ok && r.Attempt.Repeat {
		use.Ran, use.Attempts, use.Cleared = true, 0, ClearedBoot{}
		r.Used[key] = use
	}
}

// accepting says whether an attempt may take evidence with a token.
func accepting(a *Attempt, token string) bool {
	return a != nil && token != "" && a.Token == token && slices.Contains([]resource.AttemptState{
		resource.AttemptPowerRequested, resource.AttemptConsumed, resource.AttemptFetched,
	}, a.State)
}

// MayFetch says whether a file of the attempt may be sent now.
func MayFetch(held, missing bool, a *Attempt, token, file string) bool {
	return !held && !missing && accepting(a, token) && a.Network() && !a.bootsAgain(file)
}

// bootsAgain says whether who asks for the file is firmware at the next boot: the URL that its
// BMC has goes on to the installer once, and then the BMC keeps both it and the override
// (CoercedContinuous). Those that are told their URL by DHCP Serve refuses already.
func (a *Attempt) bootsAgain(file string) bool {
	return a.URI && file == a.File && a.State == resource.AttemptFetched && a.Outcome == protocol.BootCoercedContinuous
}
