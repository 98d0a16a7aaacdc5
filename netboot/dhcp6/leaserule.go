package dhcp6

import (
	"net/netip"

	"rackboot/netboot/leasing"
)

// place is where an address that a client wants lies.
type place string

const (
	placeNone place = "none" // it names none
	placeHere place = "here" // in the pool
	placeLink place = "link" // on the link, and not ours to give
	placeOff  place = "off"  // not on the link
)

// outcome is what an identity association gets.
type outcome string

const (
	outcomeGrant     outcome = "grant"       // the address that it names
	outcomeAssign    outcome = "assign"      // the address that we choose
	outcomeReplace   outcome = "replace"     // the same, and the named one ends: lifetimes 0
	outcomeNotOnLink outcome = "not-on-link" // that status
	outcomeNoBinding outcome = "no-binding"  // that status
	outcomeSilence   outcome = "silence"     // another server may know it
)

// leaseRule decides a REQUEST, RENEW or REBIND of a machine that is to have an
// address (RFC 8415 sections 18.3.2, 18.3.4, 18.3.5). hold is what the pool knows of
// the address. The first row that fits decides.
//
//	kind    | place | hold    | outcome
//	*       | none  | *       | assign
//	request | off   | *       | not-on-link
//	*       | off   | *       | replace
//	*       | here  | same    | grant
//	*       | here  | nothing | grant
//	request | *     | *       | assign
//	*       | *     | other   | replace
//	*       | *     | same    | replace
//	*       | here  | foreign | replace
//	renew   | *     | *       | no-binding
//	rebind  | *     | *       | silence
//
// A running system keeps its address where that is possible at all: one in the pool
// that we know nothing of may have been granted before our leases were lost, and
// the client found by duplicate address detection that nobody else has it.
func leaseRule(kind string, pl place, hold leasing.Holding) outcome {
	switch {
	case pl == placeNone:
		return outcomeAssign
	case pl == placeOff && kind == typeRequest:
		return outcomeNotOnLink
	case pl == placeOff:
		return outcomeReplace
	case pl == placeHere && (hold == leasing.HoldSame || hold == leasing.HoldNothing):
		return outcomeGrant
	case kind == typeRequest:
		return outcomeAssign
	case hold == leasing.HoldOther, hold == leasing.HoldSame, pl == placeHere:
		return outcomeReplace
	case kind == typeRenew:
		return outcomeNoBinding
	}
	return outcomeSilence
}

// locate finds the place of an address.
func (sc scope) locate(a netip.Addr) place {
	switch {
	case !a.IsValid():
		return placeNone
	case !sc.seg.Prefix.Contains(a):
		return placeOff
	case sc.usable(a):
		return placeHere
	}
	return placeLink
}
