package decide

import (
	"cmp"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// ClearedBoot is a boot that an approval let through.
type ClearedBoot struct {
	Approval string                 `json:"approval"`
	Class    resource.ApprovalClass `json:"class"`
	BootEnv  string                 `json:"bootEnv,omitempty"`
	Digest   string                 `json:"digest"` // of the image
}

// bootRule says whether a boot from the network may begin. The first row that fits
// decides.
//
//	class       | cleared | approved | answer
//	none        | *       | *        | free
//	wipe        | yes     | *        | free
//	wipe        | no      | yes      | spend
//	wipe        | no      | no       | wait
//	reprovision | yes     | *        | free
//	reprovision | no      | yes      | spend
//	reprovision | no      | no       | wait
//
// class is what destructiveRule wants. cleared is that the same boot was let through
// before and has fetched nothing yet: it is tried again as often as its grant says. approved
// is that an approval of the class, in its time and not used for the server, permits it:
// for this owner, environment and image.
func bootRule(class resource.ApprovalClass, cleared, approved bool) Clearing {
	switch {
	case class == approvalNone, cleared:
		return ClearFree
	case approved:
		return ClearSpend
	}
	return ClearWait
}

// bootClass is the approval that the boot of the intent needs, from the network.
func (p *step) bootClass() resource.ApprovalClass {
	b, key := p.snap.Intent.Boot, p.snap.Bulk.Key
	if p.snap.Artefacts.Destructive {
		return destructiveRule(actWipe, key, false, false, false)
	}
	return destructiveRule(actGrant, key, false, false, !always(b) && p.hasSystemOf(b.Owner.UID))
}

// hasSystemOf says whether a boot of the owner has ended well, of any generation.
func (p *step) hasSystemOf(owner string) bool {
	is := func(r *resource.Provisioned) bool { return r != nil && r.OwnerUID == owner }
	for _, e := range p.rec.Earlier {
		if is(&e) {
			return true
		}
	}
	return is(p.rec.Provisioned) || is(p.snap.Echo)
}

// approve decides whether the boot of the intent may begin, and notes in the use of its
// grant by which approval.
func (p *step) approve(use *GrantUse) bool {
	b := p.snap.Intent.Boot
	this := ClearedBoot{Class: p.bootClass(), Digest: b.Image.Digest}
	if b.Env != nil {
		this.BootEnv = b.Env.Name
	}
	was := use.Cleared
	was.Approval = ""
	by := ""
	for _, a := range p.snap.Approved {
		if a.Class == this.Class && permits(a, p.snap.Server, b) {
			by = cmp.Or(by, a.ID)
		}
	}
	switch bootRule(this.Class, was == this, by != "") {
	case ClearWait:
		p.notApproved(this)
		return false
	case ClearSpend:
		this.Approval = by
		use.Cleared, p.plan.Spent = this, by
		p.happened(resource.EventApproval, "boots from the network by approval %s", by)
	case ClearFree, ClearCount:
		if this.Class == approvalNone {
			use.Cleared = ClearedBoot{}
		}
	}
	return true
}

// permits says whether an approval permits a boot.
func permits(a resource.Approval, server string, b *message.BootIntent) bool {
	for _, t := range a.Boots {
		if b.ApprovedBy(t, server) {
			return true
		}
	}
	return false
}

func (p *step) notApproved(this ClearedBoot) {
	owner := p.snap.Intent.Owner.Name
	if this.Class == resource.ApproveWipe {
		p.raise(resource.CondWipeNotApproved, "boot environment %s discards the disks, and no approval permits it for %s", this.BootEnv, owner)
		return
	}
	p.raise(resource.CondInstallNotApproved, "the server has a system of claim %s, and no approval permits to install it again", owner)
}

// unapproved says whether an attempt was begun without the approval that it needs: by an
// agent of a release that wanted none, or before this one knew a destructive key.
func (p *step) unapproved(a *Attempt) bool {
	if !a.Network() || p.snap.Intent.Boot == nil {
		return false
	}
	class := p.bootClass()
	return class != approvalNone && a.Cleared.Class != class
}

// MayDiscard says whether a file may be sent to the server of an attempt. key is that the
// agent knows a destructive key, destructive that the file is of an environment which
// discards disks, or tells a program that it may.
func MayDiscard(key, destructive bool, a *Attempt) bool {
	return mayDiscardRule(key, destructive, a != nil && a.Cleared.Class == resource.ApproveWipe)
}

// mayDiscardRule is the serve gate of what discards disks. approved is that an approval of
// the class wipe let the boot through. The first row that fits decides.
//
//	key | destructive | approved | answer
//	no  | *           | *        | yes
//	yes | no          | *        | yes
//	yes | yes         | yes      | yes
//	yes | yes         | no       | no
func mayDiscardRule(key, destructive, approved bool) bool { return !key || !destructive || approved }
