package decide

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// bootWay is how firmware learned in the attempt before where its boot file is.
type bootWay string

const (
	wayNone bootWay = "none" // there is none, or it was another boot
	wayDHCP bootWay = "dhcp"
	wayURL  bootWay = "url"
)

// wayOf is the way of the attempt before, and how that ended.
func (r *Record) wayOf(b *message.BootIntent, target protocol.BootTarget) (bootWay, resource.AttemptCode) {
	a := r.Attempt
	switch {
	case a == nil || a.Order.OwnerUID != b.Owner.UID || a.Order.Generation != b.Generation || a.Order.Target != target || a.Open():
		return wayNone, ""
	case a.ByURL():
		return wayURL, a.Stage.Ending.Code
	}
	return wayDHCP, a.Stage.Ending.Code
}

// notHTTP are the ends of an attempt in which the BMC or firmware did no boot by HTTP at all.
var notHTTP = []resource.AttemptCode{resource.AttemptNotStored, resource.AttemptOverrideIgnored, resource.AttemptWrongMethod, resource.AttemptAskedByPXE, resource.AttemptNoDHCP}

// wayRule says whether a boot by UefiHttp is given its URL through the BMC. The first row
// that fits decides.
//
//	reach   | before | ended             | url
//	uri     | *      | *                 | yes
//	segment | none   | *                 | no
//	segment | url    | OverrideNotStored | no
//	segment | url    | OverrideIgnored   | no
//	segment | url    | WrongMethod       | no
//	segment | url    | AskedByPXE        | no
//	segment | url    | NoDHCP            | no
//	segment | url    | *                 | yes
//	segment | dhcp   | OverrideNotStored | yes
//	segment | dhcp   | OverrideIgnored   | yes
//	segment | dhcp   | WrongMethod       | yes
//	segment | dhcp   | AskedByPXE        | yes
//	segment | dhcp   | NoDHCP            | yes
//	segment | dhcp   | *                 | no
//
// These are the two ways that need no BIOS setting. DHCP is first, because firmware of any
// vendor has it; with some, UefiHttp is nothing without HttpBootUri (metal-operator 649,
// Supermicro). Another method is none of them: the grant is for one, or for either with network any.
func wayRule(reach resource.Reach, before bootWay, ended resource.AttemptCode) bool {
	switch {
	case reach == resource.ReachURI:
		return true
	case before == wayNone:
		return false
	}
	return (before == wayURL) != slices.Contains(notHTTP, ended)
}
