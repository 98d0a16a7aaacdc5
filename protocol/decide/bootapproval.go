package decide

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

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

// hasSystemOf says whether a boot of the owner has ended well, of any generation.
func (r *Record) hasSystemOf(owner string, echo *resource.Provisioned) bool {
	is := func(p *resource.Provisioned) bool { return p != nil && p.OwnerUID == owner }
	for _, e := range r.Owners.Earlier {
		if is(&e) {
			return true
		}
	}
	return is(r.Owners.Provisioned) || is(echo)
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

// MayDiscard says whether a file may be sent to the server of an attempt. key is that the
// agent knows a destructive key, destructive that the file is of an environment which
// discards disks, or tells a program that it may.
func MayDiscard(key, destructive bool, a *Attempt) bool {
	return mayDiscardRule(key, destructive, a != nil && a.Order.Cleared.Class == resource.ApproveWipe)
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
