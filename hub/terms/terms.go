package terms

import (
	"context"
	"fmt"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// termKey is where the highest term of a rack of that name is kept: a rack that
// is deleted and made again must not give out an agent's name twice, because
// certificates are for names.
func termKey(rack string) string { return "term-" + rack }

// Next is the term of a rack's next agent, and the revision to take it at.
func (t *Terms) Next(r *resource.Rack) (term, revision uint64, err error) {
	kept, revision, err := t.meta.Number(termKey(r.Metadata.Name))
	return max(r.Status.Term, kept) + 1, revision, err
}

// Take takes a term, so that no two agents have one name. Of two that take it one gets a conflict.
func (t *Terms) Take(ctx context.Context, rack string, term, revision uint64) error {
	return t.meta.PutNumber(ctx, termKey(rack), term, revision)
}

// AgentName is the name of a rack's agent of a term.
func AgentName(rack string, term uint64) string { return fmt.Sprintf("%s-%d", rack, term) }

// RackOf finds the rack and term of an agent that is there, or was.
func (t *Terms) RackOf(agent string) (rack string, term uint64, err error) {
	if a, err := store.Peek[*resource.Agent](t.objects, agent); err == nil {
		return a.Spec.RackRef.Name, a.Spec.Term, nil
	}
	if name, term, ok := ofAgent(agent); ok {
		last, _, err := t.meta.Number(termKey(name))
		if err != nil {
			return "", 0, err
		}
		if r, err := store.Peek[*resource.Rack](t.objects, name); err == nil && term <= max(last, r.Status.Term) {
			return name, term, nil
		}
	}
	return "", 0, protocol.Errorf(protocol.CodeNotFound, "find an agent", "this hub has no record of an agent %q", agent).
		WithHint("rackctl get agents lists them")
}

// Active says whether the agent is the one that serves its rack.
func (t *Terms) Active(a *resource.Agent) bool { return t.stands(a) == Serves }

// StandsBy says whether the agent stands by for the one that serves its rack.
func (t *Terms) StandsBy(a *resource.Agent) bool { return t.stands(a) == StandsBy }

// Belongs says whether the agent is one of its rack's: the one that serves it, or stands by.
func (t *Terms) Belongs(a *resource.Agent) bool {
	s := t.stands(a)
	return s == Serves || s == StandsBy
}

// stands is Of, of an agent whose term may be over; that one is nothing.
func (t *Terms) stands(a *resource.Agent) Standing {
	if _, over := t.EndingOf(a.Metadata.Name); over {
		return ""
	}
	return t.Of(a)
}
