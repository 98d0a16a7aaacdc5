package decide

import (
	"cmp"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// grants begins network boots: each by a grant, and where it destroys something by an approval.
type grants struct {
	d *draft
	s *Snapshot
}

func (gr grants) attempts() attempts { return attempts(gr) }

func (gr grants) fallbacks() fallbacks { return fallbacksOf(gr.d, gr.s) }

func (gr grants) inrush() inrush { return inrush(gr) }

func (gr grants) requests() requests { return requests(gr) }

// bootClass is the approval that the boot of the intent needs, from the network.
func (gr grants) bootClass() resource.ApprovalClass {
	b, key := gr.s.Intent.Boot, gr.s.Bulk.Key
	if gr.s.Artefacts.Destructive {
		return destructiveRule(actWipe, key, false, false, false)
	}
	return destructiveRule(actGrant, key, false, false, !always(b) && gr.d.rec.hasSystemOf(b.Owner.UID, gr.s.Echo))
}

// approve decides whether the boot of the intent may begin, and notes in the use of its
// grant by which approval. spent is the approval that is used by that; empty if none is.
func (gr grants) approve(use *GrantUse) (spent string, may bool) {
	b := gr.s.Intent.Boot
	this := ClearedBoot{Class: gr.bootClass(), Digest: b.Image.Digest}
	if b.Env != nil {
		this.BootEnv = b.Env.Name
	}
	was := use.Cleared
	was.Approval = ""
	by := ""
	for _, a := range gr.s.Approved {
		if a.Class == this.Class && permits(a, gr.d.server, b) {
			by = cmp.Or(by, a.ID)
		}
	}
	switch bootRule(this.Class, was == this, by != "") {
	case ClearWait:
		gr.notApproved(this)
		return "", false
	case ClearSpend:
		this.Approval = by
		use.Cleared, spent = this, by
	case ClearFree, ClearCount:
		if this.Class == approvalNone {
			use.Cleared = ClearedBoot{}
		}
	}
	return spent, true
}

func (gr grants) notApproved(this ClearedBoot) {
	owner := gr.s.Intent.Owner.Name
	if this.Class == resource.ApproveWipe {
		gr.d.raise(resource.CondWipeNotApproved, "boot environment %s discards the disks, and no approval permits it for %s", this.BootEnv, owner)
		return
	}
	gr.d.raise(resource.CondInstallNotApproved, "the server has a system of claim %s, and no approval permits to install it again", owner)
}

// unapproved says whether an attempt was begun without the approval that it needs: by an
// agent of a release that wanted none, or before this one knew a destructive key.
func (gr grants) unapproved(a *Attempt) bool {
	if !a.Network() || gr.s.Intent.Boot == nil {
		return false
	}
	class := gr.bootClass()
	return class != approvalNone && a.Order.Cleared.Class != class
}

func (gr grants) firstFacts() firstFacts {
	b, c, g := gr.s.Intent.Boot, gr.s.Chain, gr.s.Grant
	f := firstFacts{method: methodUnknown, chain: chainFits, grant: grantFit, lacks: needsNothing}
	if n := needsOf(b); n != needsNothing && gr.through() == ThroughNothing {
		f.lacks = n
	} else if gr.provable() != provableYes {
		f.lacks = needsEvidence
	}
	if m, known := methodNamed(b.BootPolicy.FirstBoot); known {
		f.method = methodFor(m, gr.offers(), gr.s.MediaError != "", b.Reach == resource.ReachURI, b.BootPolicy.Network.Any() && m.instead(gr.offers()))
	}
	switch {
	case c == nil:
		f.chain = chainNone
	case b.Reach == resource.ReachURI && c.Kind == protocol.ChainIPXE:
		f.chain = chainByURI
	}
	switch {
	case g == nil && gr.s.GrantError != "":
		f.grant = grantUnread
	case g == nil:
		f.grant = grantMissing
	case grantFits(g, gr.s.Intent) != "":
		f.grant = grantOther
	default:
		f.kept = gr.d.rec.installedBefore(b) != nil && !overRule(always(b), true, g.Over)
	}
	return f
}

// firstBoot begins a network boot if everything that it needs is there (P4, P7).
func (gr grants) firstBoot() {
	b := gr.s.Intent.Boot
	switch firstRule(gr.firstFacts()) {
	case firstNoMedia:
		gr.d.raise(resource.CondUnsupportedBoot, "first boot %s: %s", b.BootPolicy.FirstBoot, gr.s.MediaError)
	case firstAbsent:
		gr.unfit(b.BootPolicy.FirstBoot, "the BMC does not offer it: "+gr.offer().Why)
	case firstOff:
		gr.unfit(b.BootPolicy.FirstBoot, "firmware has it switched off: "+gr.offer().Switch())
	case firstNoPlace:
		gr.unfit(b.BootPolicy.FirstBoot, "the server has reach uri, and its BMC shows no HttpBootUri that a URL could be written to")
	case firstNoMethod:
		gr.d.raise(resource.CondUnsupportedBoot, "first boot %s", b.BootPolicy.FirstBoot)
	case firstNoChain:
		gr.d.raise(resource.CondNoBootChain, "%s", gr.s.ChainError)
	case firstNoURI:
		gr.d.raise(resource.CondNoBootChain, "the server has reach uri, and iPXE asks by DHCP what to do; a UKI, or shim and GRUB, do not")
	case firstSecrets:
		gr.d.raise(resource.CondSecretsWait, "first boot %s: %s", b.BootPolicy.FirstBoot, gr.s.Private.lacks(b.BootPolicy.FirstBoot))
	case firstEvidence:
		gr.d.raise(resource.CondEvidenceWaits, "first boot %s: %s", b.BootPolicy.FirstBoot, gr.lacksEvidence())
	case firstUnread:
		gr.d.raise(resource.CondGrantInvalid, "%s", gr.s.GrantError)
	case firstMissing:
		gr.d.raise(resource.CondGrantMissing, "")
	case firstMisfit:
		gr.d.raise(resource.CondGrantInvalid, "%s", grantFits(gr.s.Grant, gr.s.Intent))
	case firstKept:
		gr.d.raise(resource.CondGrantInvalid, "%s was installed for the claim before this boot came, and is kept; to install over it, delete the claim and create it again", gr.d.rec.installedBefore(b).ImageDigest)
	case firstGranted:
		gr.granted()
	}
}

// offers is what the last reading of the inventory says; nothing before.
func (gr grants) offers() protocol.Offers {
	if s := gr.d.rec.Safety; s != nil {
		return s.Offers
	}
	return protocol.Offers{}
}

// offer is that of the first boot's target.
func (gr grants) offer() protocol.BootOffer {
	return gr.offers().Boot(gr.s.Intent.Boot.BootPolicy.FirstBoot.Target())
}

// unfit says why the server cannot be booted as it shall be. Whoever sees that changes it at the server,
// so the inventory is read again.
func (gr grants) unfit(first resource.FirstBoot, why string) {
	gr.d.plan.Survey = true
	gr.d.raise(resource.CondUnsupportedBoot, "first boot %s: %s", first, why)
}

// through is how a private token of the boot goes through the BMC. iPXE asks by DHCP what to
// do, where nobody is told of a boot whose URL the BMC has.
func (gr grants) through() Through {
	b, p := gr.s.Intent.Boot, gr.s.Private
	p.URL = p.URL && (gr.s.Chain == nil || gr.s.Chain.Kind != protocol.ChainIPXE)
	before, ended := gr.d.rec.wayOf(b, b.BootPolicy.FirstBoot.Target())
	return throughRule(needsOf(b) != needsNothing, b.BootPolicy.FirstBoot, p, before == wayURL && slices.Contains(notHTTP, ended))
}

// granted begins a network boot for which there is a grant that fits, if it may be used.
func (gr grants) granted() {
	b, g := gr.s.Intent.Boot, gr.s.Grant
	use := gr.fallbacks().again(b, gr.requests().retry(grantKey(b), gr.d.rec.Owners.Used[grantKey(b)], g.MaxAttempts))
	switch grantRule(grantFacts{
		ran: use.Ran, foreign: foreign(b.GrantFor, gr.s.Incarnation), left: !use.Spent && use.Attempts < g.MaxAttempts,
		local: gr.s.Artefacts.Local, heard: !gr.s.HubTime.IsZero(),
	}) {
	case grantRan:
		gr.d.raise(resource.CondUnexpectedPower, "went Off after its boot files were fetched; it boots from the network again by an order only")
	case grantForeign:
		gr.d.raise(resource.CondGrantInvalid, "the grant was given to another disk of the agent, which was replaced, lost or rolled back, and may have been used; delete the claim and create it again")
	case grantWaits:
		gr.d.raise(resource.CondAwaitingHub, "first boot")
	case grantSpent, grantFiles: // the conditions say so
	case grantUse:
		spent, may := gr.approve(&use)
		if !may || gr.inrush().waits(PlaceBegin) {
			return
		}
		if gr.d.plan.Spent = spent; spent != "" {
			gr.d.happened(resource.EventApproval, "boots from the network by approval %s", spent)
		}
		gr.useGrant(b, g, use)
	}
}

// useGrant begins the boot, and counts it.
func (gr grants) useGrant(b *message.BootIntent, g *message.Grant, use GrantUse) {
	use.Attempts++
	use.Repeat, use.At = g.Repeat, gr.d.now
	gr.d.rec.Owners.use(grantKey(b), use)
	gr.d.happened(resource.EventGrantUsed, "attempt %d of %d, chain %s", use.Attempts, g.MaxAttempts, gr.s.Chain.Kind)
	gr.attempts().begin(choice{
		target: b.BootPolicy.FirstBoot.Target(), chain: gr.s.Chain, number: use.Attempts, repeat: g.Repeat, cleared: use.Cleared, through: gr.through(),
	})
}

// clearsSettings says whether settings of the firmware may be written for the intent's owner, and by which
// approval; empty where none is needed.
func (gr grants) clearsSettings() (approval string, may bool) {
	class := destructiveRule(actFirmware, gr.s.Bulk.Key, false, false, false)
	if class == approvalNone {
		return "", true
	}
	digest := resource.SettingsDigest(gr.s.Intent.Settings.Want)
	for _, a := range gr.s.Approved {
		for _, t := range a.Boots {
			if a.Class == class && t.Server == gr.d.server && t.Owner != "" && t.Owner == gr.s.Intent.Owner.UID && t.Settings == digest {
				return a.ID, true
			}
		}
	}
	return "", false
}

// useSettings notes that settings are begun to be written for the intent's owner: that is once.
func (gr grants) useSettings() {
	approval, _ := gr.clearsSettings()
	gr.d.rec.Owners.use(provisionKey(gr.s.Intent.Owner.UID, 0), GrantUse{Attempts: 1, Spent: true, At: gr.d.now, Reason: "firmware settings"})
	if gr.d.plan.Spent = approval; approval != "" {
		gr.d.happened(resource.EventApproval, "writes firmware settings by approval %s", approval)
	}
}

// renew lets a grant that repeats be used once more, because somebody has ordered
// a power-on: the server is Off by an order.
func (gr grants) renew() {
	in := gr.s.Intent
	if in == nil || in.Boot == nil || gr.d.watch.Last.Power != protocol.PowerOff {
		return
	}
	key := grantKey(in.Boot)
	if use, ok := gr.d.rec.Owners.Used[key]; ok && use.Repeat && (use.Ran || use.Attempts > 0) && !gr.d.rec.Attempt.Open() {
		use.Ran, use.Attempts = false, 0
		gr.d.rec.Owners.use(key, use)
		gr.d.dirty = true
	}
}
