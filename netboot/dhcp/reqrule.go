package dhcp

import (
	"net/netip"
	"time"

	"rackboot/netboot/leasing"
)

// state is the state of a client that sends a DHCPREQUEST, which RFC 2131 section
// 4.3.2 tells from the fields:
//
//	selecting  option 54
//	reboot     option 50, ciaddr 0, no option 54
//	renewing   ciaddr, neither option; REBINDING looks the same, but for its destination
type state string

const (
	stateSelecting state = "selecting"
	stateReboot    state = "reboot"
	stateRenewing  state = "renewing"
)

// place is where the address that a client wants lies.
type place string

const (
	placeHere   place = "here"   // in the pool, or reserved for the client
	placeLink   place = "link"   // on the network, and not ours to give
	placeOthers place = "others" // reserved for another machine
	placeMoved  place = "moved"  // another address is reserved for the client, and is free
	placeOff    place = "off"    // not on the network
)

// outcome is what becomes of a DHCPREQUEST.
type outcome string

const (
	outcomeGrant   outcome = "grant"
	outcomeNak     outcome = "nak"
	outcomeSilence outcome = "silence"
	outcomeRecover outcome = "recover" // grant it if a probe finds that nobody uses it, else be silent
)

// requestRule decides a DHCPREQUEST of a machine that is to have an address. hold
// is what the pool knows of the address. The first row that fits decides.
//
//	state     | place  | hold    | authoritative | outcome
//	*         | off    | *       | *             | nak
//	*         | others | *       | *             | nak
//	*         | moved  | *       | *             | nak
//	*         | *      | other   | *             | nak
//	*         | *      | foreign | *             | nak
//	selecting | here   | *       | *             | grant
//	selecting | link   | *       | *             | nak
//	renewing  | here   | *       | *             | grant
//	reboot    | here   | same    | *             | grant
//	reboot    | here   | nothing | *             | recover
//	*         | link   | same    | *             | nak
//	*         | link   | nothing | yes           | nak
//	*         | link   | nothing | no            | silence
//
// A running system keeps its address where that is possible at all: one that we
// know nothing of may have been granted before our leases were lost, so that it is
// not refused unless it is another's. On the link but not ours to give, it may be
// another server's lease.
func requestRule(st state, pl place, hold leasing.Holding, authoritative bool) outcome {
	switch {
	case pl == placeOff, pl == placeOthers, pl == placeMoved, hold == leasing.HoldOther, hold == leasing.HoldForeign:
		return outcomeNak
	case pl == placeHere && st == stateReboot && hold == leasing.HoldNothing:
		return outcomeRecover
	case pl == placeHere:
		return outcomeGrant
	case st == stateSelecting, hold == leasing.HoldSame, authoritative:
		return outcomeNak
	}
	return outcomeSilence
}

// why is the text of a DHCPNAK (option 56).
func why(pl place, hold leasing.Holding) string {
	switch {
	case pl == placeOff:
		return "address is not on this network"
	case pl == placeOthers:
		return "address is reserved"
	case pl == placeMoved:
		return "another address is reserved"
	case hold == leasing.HoldOther:
		return "another address is leased"
	case hold == leasing.HoldForeign:
		return "address is in use"
	}
	return "address is not in the pool"
}

// locate finds the place of an address for the client.
func (s *Server) locate(r *request, sc scope, want netip.Addr, now time.Time) place {
	switch {
	case !sc.seg.Prefix.Contains(want):
		return placeOff
	case sc.others(want):
		return placeOthers
	case sc.mine.IsValid() && want != sc.mine && s.pool.reserved(sc, r.mac, now):
		return placeMoved
	case sc.may(want):
		return placeHere
	}
	return placeLink
}

// stateOf tells the state; want is the address that the client wants. ok is false
// for a packet that is in none.
func stateOf(r *request) (st state, want netip.Addr, ok bool) {
	want = r.asked
	if !want.IsValid() {
		want = r.ciaddr
	}
	switch {
	case !want.IsValid():
		return "", want, false
	case r.server.IsValid():
		return stateSelecting, want, true
	case r.ciaddr.IsValid():
		return stateRenewing, r.ciaddr, true
	}
	return stateReboot, want, true
}
