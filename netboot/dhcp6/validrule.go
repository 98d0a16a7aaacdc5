package dhcp6

import (
	"bytes"

	"github.com/insomniacslk/dhcp/dhcpv6"
)

// addressee is whom option 2 names.
type addressee string

const (
	toAnybody addressee = "none"
	toUs      addressee = "ours"
	toOther   addressee = "other"
)

// verdict says whether a message is answered.
type verdict string

const (
	verdictAnswer    verdict = "answer"
	verdictDiscard   verdict = "discard"
	verdictElsewhere verdict = "elsewhere"     // for another server
	verdictMulticast verdict = "use-multicast" // the client must not send unicast
)

// validRule is RFC 8415 section 16, with section 18.4 for unicast. Each kind is the
// label of its type. IA says that there is an identity association. The first row
// that fits decides.
//
//	kind    | client ID | server ID | IA  | unicast | verdict
//	inform  | *         | other     | *   | *       | elsewhere
//	inform  | *         | *         | no  | no      | answer
//	inform  | *         | *         | *   | *       | discard
//	*       | no        | *         | *   | *       | discard
//	solicit | yes       | none      | *   | no      | answer
//	solicit | *         | *         | *   | *       | discard
//	confirm | yes       | none      | *   | no      | answer
//	confirm | *         | *         | *   | *       | discard
//	rebind  | yes       | none      | *   | no      | answer
//	rebind  | *         | *         | *   | *       | discard
//	*       | yes       | none      | *   | *       | discard
//	*       | yes       | other     | *   | *       | elsewhere
//	*       | yes       | ours      | *   | yes     | use-multicast
//	*       | yes       | ours      | *   | no      | answer
func validRule(kind string, client bool, server addressee, ia, unicast bool) verdict {
	switch kind {
	case typeInform:
		switch {
		case server == toOther:
			return verdictElsewhere
		case ia, unicast:
			return verdictDiscard
		}
		return verdictAnswer
	case typeSolicit, typeConfirm, typeRebind:
		if !client || server != toAnybody || unicast {
			return verdictDiscard
		}
		return verdictAnswer
	}
	switch {
	case !client, server == toAnybody:
		return verdictDiscard
	case server == toOther:
		return verdictElsewhere
	case unicast:
		return verdictMulticast
	}
	return verdictAnswer
}

// judge applies validRule.
func (s *Server) judge(r *request) verdict {
	to := toAnybody
	switch {
	case !r.has(dhcpv6.OptionServerID):
	case bytes.Equal(r.serverID, s.cfg.DUID):
		to = toUs
	default:
		to = toOther
	}
	return validRule(typeLabel(r.kind), len(r.clientID) > 0, to, len(r.ias) > 0, !r.multicast)
}
