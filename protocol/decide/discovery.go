package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A discovery boots a server that nobody owns into an image that says what is in it, and
// is over when that was reported and the server is Off. Its image writes nothing, so
// that an attempt that failed may be repeated as often as the grant says; and it has no
// right to a server that it did not power on itself.

// selfOff is how long a server that was discovered may take to power itself off.
const selfOff = 2 * time.Minute

// discovering says whether a discovery owns the server.
func discovering(in *message.ServerIntent) bool {
	return in != nil && in.Owner.Kind == resource.PurposeDiscovery
}

// forDiscovery says whether the attempt is one of a discovery.
func (a *Attempt) forDiscovery() bool { return a.Order.Purpose == resource.PurposeDiscovery }

// mismatched says whether firmware booted by another method than it may. A discovery orders Pxe and
// answers HTTP boot too.
func (a *Attempt) mismatched() bool { return a.Stage.Observed != "" && !a.takes(a.Stage.Observed) }

// takes says whether a boot by the method is the one that was ordered. Pxe and UefiHttp stand for each
// other in a discovery, and where the policy has network any.
func (a *Attempt) takes(method protocol.BootTarget) bool {
	return takesRule(methodNameOf(a.Order.Target), methodNameOf(method), a.forDiscovery(), a.Order.Any)
}

// methodNameOf is a target as rules name it.
func methodNameOf(t protocol.BootTarget) string {
	switch t {
	case protocol.TargetPxe:
		return "pxe"
	case protocol.TargetUefiHTTP:
		return "http"
	case protocol.TargetHdd, protocol.TargetCd, protocol.TargetSetup, protocol.TargetNone:
	}
	return string(t)
}

// takesRule says whether a boot that firmware made is the one that was ordered. The first row that fits
// decides.
//
//	ordered | made  | discovery | any | takes
//	pxe     | pxe   | *         | *   | yes
//	http    | http  | *         | *   | yes
//	pxe     | http  | yes       | *   | yes
//	pxe     | http  | *         | yes | yes
//	http    | pxe   | *         | yes | yes
//	Cd      | Cd    | *         | *   | yes
//	Hdd     | Hdd   | *         | *   | yes
//	*       | *     | *         | *   | no
func takesRule(ordered, made string, discovery, either bool) bool {
	switch {
	case ordered == made:
		return true
	case ordered == "pxe" && made == "http":
		return discovery || either
	}
	return ordered == "http" && made == "pxe" && either
}

// discovered says whether the server has said what is in it, to this owner.
func (r *Record) discovered(uid string) bool {
	a := r.Attempt
	return a != nil && a.Order.OwnerUID == uid && a.Stage.State == resource.AttemptSucceeded && a.Stage.Evidence == protocol.EvidenceDiscovered
}

// leave is what a discovery that is over, or ends, does to its server.
type leave string

const (
	leaveProve leave = "prove" // it is Off, and Off is proved
	leaveWait  leave = "wait"
	leaveStop  leave = "stop"  // gracefully, then forced
	leaveForce leave = "force" // it was to power itself off
	leaveIt    leave = "leave" // it runs, and not for the discovery
)

// leaveRule is the end of a discovery. The first row that fits decides.
//
//	power | ours | discovered | time left | then
//	off   | *    | *          | *         | prove
//	other | *    | *          | *         | wait
//	on    | no   | *          | *         | leave
//	on    | yes  | yes        | yes       | wait
//	on    | yes  | yes        | no        | force
//	on    | yes  | no         | *         | stop
//
// ours is that the discovery powered it on. A server that it found running, or that
// somebody powered on meanwhile, is never stopped by its end.
func leaveRule(power running, ours, discovered, left bool) leave {
	switch {
	case power == isOff:
		return leaveProve
	case power == isOther:
		return leaveWait
	case !ours:
		return leaveIt
	case !discovered:
		return leaveStop
	case left:
		return leaveWait
	}
	return leaveForce
}

// leavingOf is the power as the end of a discovery sees it: only what is not known waits.
func leavingOf(power protocol.PowerState) running {
	switch power {
	case protocol.PowerOff:
		return isOff
	case "", protocol.PowerUnknown, protocol.PowerUnreachable:
		return isOther
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	return isOn
}
