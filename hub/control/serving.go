package control

import (
	"strconv"
	"strings"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// serving is how an agent whose term was not ended stands by the hub's records.
type serving string

const (
	servingYes      serving = "serves"
	servingReplaced serving = "replaced"
	servingUnknown  serving = "unknown"
)

// refusal is the condition that the agent is told; empty for one that serves.
func (s serving) refusal() protocol.ConditionCode {
	switch s {
	case servingReplaced:
		return protocol.CondAgentReplaced
	case servingUnknown:
		return protocol.CondAgentUnknown
	case servingYes:
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

// servingRule says how an agent stands. Only what is recorded is concluded from: a hub that was
// emptied, or restored from a copy of before the agent joined, has no record, and does not know
// whether another one serves. The first row that fits decides.
//
//	agent | its rack names it | term | verdict
//	there | yes               | same | serves
//	there | *                 | more | replaced
//	there | *                 | *    | unknown
//	gone  | *                 | less | unknown
//	gone  | *                 | *    | replaced
//
// A term is recorded at its rack after the Agent was written, and the store keeps the order of
// writes: where the term is recorded and the Agent is gone, somebody deleted it.
func servingRule(there, named bool, g given) serving {
	switch {
	case there && named && g == givenSame:
		return servingYes
	case there && g == givenMore:
		return servingReplaced
	case there:
		return servingUnknown
	case g == givenLess:
		return servingUnknown
	}
	return servingReplaced
}

// servingOf judges an agent that is there.
func (c *Control) servingOf(a *protocol.Agent) serving {
	r, err := store.Peek[*protocol.Rack](c.cfg.Store, a.Spec.RackRef.Name)
	if err != nil {
		return servingRule(true, false, givenLess)
	}
	return servingRule(true, r.Status.Agent == a.Metadata.Name, givenOf(r.Status.Term, a.Spec.Term))
}

// ofAgent is the rack and the term that an agent is named after.
func ofAgent(agent string) (rack string, term uint64, ok bool) {
	i := strings.LastIndexByte(agent, '-')
	if i < 0 {
		return "", 0, false
	}
	rack = agent[:i]
	term, err := strconv.ParseUint(agent[i+1:], 10, 64)
	return rack, term, err == nil && term > 0 && agentName(rack, term) == agent
}

// servingOfName judges an agent that is not there. Its name tells rack and term.
func (c *Control) servingOfName(agent string) serving {
	rack, term, ok := ofAgent(agent)
	if !ok {
		return servingUnknown
	}
	highest, _, err := c.cfg.Store.Number(termKey(rack))
	if err != nil {
		c.log.Error("cannot read the last term of a rack", "rack", rack, "err", err)
		return servingUnknown
	}
	if r, err := store.Peek[*protocol.Rack](c.cfg.Store, rack); err == nil {
		highest = max(highest, r.Status.Term)
	}
	return servingRule(false, false, givenOf(highest, term))
}
