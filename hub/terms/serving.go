package terms

import (
	"strconv"
	"strings"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Standing is how an agent whose term was not ended stands by the hub's records.
type Standing string

// The ways in which an agent stands.
const (
	Serves   Standing = "serves"
	StandsBy Standing = "stands by"
	Replaced Standing = "replaced"
	Unknown  Standing = "unknown"
)

// Refusal is the condition that the agent is told; empty for one that serves or stands by.
func (s Standing) Refusal() resource.ConditionCode {
	switch s {
	case Replaced:
		return resource.CondAgentReplaced
	case Unknown:
		return resource.CondAgentUnknown
	case Serves, StandsBy:
	}
	return ""
}

// given is the highest term that the hub's records of a rack tell of, against an agent's.
type given string

const (
	givenLess given = "less" // or no record at all
	givenSame given = "same"
	givenMore given = "more"
)

func givenOf(highest, term uint64) given {
	switch {
	case highest < term:
		return givenLess
	case highest == term:
		return givenSame
	}
	return givenMore
}

// namedAs is what the rack of an agent names it.
type namedAs string

const (
	namedAgent   namedAs = "agent"
	namedStandby namedAs = "standby"
	namedNot     namedAs = "no"
)

func namedIn(r *resource.Rack, agent string) namedAs {
	switch agent {
	case r.Status.Agent:
		return namedAgent
	case r.Status.Standby:
		return namedStandby
	}
	return namedNot
}

// servingRule says how an agent stands. Only what is recorded is concluded from: a hub that was
// emptied, or restored from a copy of before the agent joined, has no record, and does not know
// whether another one serves. The first row that fits decides.
//
//	agent | its rack names it | term | verdict
//	there | agent             | same | serves
//	there | standby           | less | stands by
//	there | *                 | more | replaced
//	there | *                 | *    | unknown
//	gone  | *                 | less | unknown
//	gone  | *                 | *    | replaced
//
// A term is recorded at its rack after the Agent was written, and the store keeps the order of
// writes: where the term is recorded and the Agent is gone, somebody deleted it. The term of a
// standby is above that of its rack until it takes over.
func servingRule(there bool, named namedAs, g given) Standing {
	switch {
	case there && named == namedAgent && g == givenSame:
		return Serves
	case there && named == namedStandby && g == givenLess:
		return StandsBy
	case there && g == givenMore:
		return Replaced
	case there:
		return Unknown
	case g == givenLess:
		return Unknown
	}
	return Replaced
}

// Of judges an agent that is there.
func (t *Terms) Of(a *resource.Agent) Standing {
	r, err := store.Peek[*resource.Rack](t.objects, a.Spec.RackRef.Name)
	if err != nil {
		return servingRule(true, namedNot, givenLess)
	}
	return servingRule(true, namedIn(r, a.Metadata.Name), givenOf(r.Status.Term, a.Spec.Term))
}

// ofAgent is the rack and the term that an agent is named after.
func ofAgent(agent string) (rack string, term uint64, ok bool) {
	i := strings.LastIndexByte(agent, '-')
	if i < 0 {
		return "", 0, false
	}
	rack = agent[:i]
	term, err := strconv.ParseUint(agent[i+1:], 10, 64)
	return rack, term, err == nil && term > 0 && AgentName(rack, term) == agent
}

// OfName judges an agent that is not there. Its name tells rack and term.
func (t *Terms) OfName(agent string) Standing {
	rack, term, ok := ofAgent(agent)
	if !ok {
		return Unknown
	}
	highest, _, err := t.meta.Number(termKey(rack))
	if err != nil {
		t.log.Error("cannot read the last term of a rack", "rack", rack, "err", err)
		return Unknown
	}
	if r, err := store.Peek[*resource.Rack](t.objects, rack); err == nil {
		highest = max(highest, r.Status.Term)
	}
	return servingRule(false, namedNot, givenOf(highest, term))
}
