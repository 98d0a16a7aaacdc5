package rollouts

import (
	"testing"

	"rackboot/protocol/resource"
)

// An approval to install servers anew is of one roll-out: of this group and no other of its
// name, of this revision, of this direction, and of no wave that comes later.
func TestApprovalIsOfOneRollout(t *testing.T) {
	group := func(uid string) *resource.ServerGroup {
		g := &resource.ServerGroup{}
		g.Default()
		g.Metadata.Name, g.Metadata.UID = "workers", uid
		return g
	}
	at := resource.RolloutStatus{Revision: 3, Wave: 2, Phase: resource.RolloutWave}
	mine := installsOf(group("u1"), &at)
	for name, c := range map[string]struct {
		asks *resource.ApprovalSubject
		want bool
	}{
		"itself":               {&mine.subject, true},
		"an earlier wave":      {subjectOf(group("u1"), resource.RolloutStatus{Revision: 3, Wave: 1}), true},
		"a later wave":         {subjectOf(group("u1"), resource.RolloutStatus{Revision: 3, Wave: 3}), false},
		"another revision":     {subjectOf(group("u1"), resource.RolloutStatus{Revision: 4, Wave: 2}), false},
		"its return":           {subjectOf(group("u1"), resource.RolloutStatus{Revision: 3, Wave: 2, Phase: resource.RolloutRolledBack}), false},
		"a group made anew":    {subjectOf(group("u2"), at), false},
		"no roll-out, a claim": {nil, false},
	} {
		if got := mine.asked(c.asks); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func subjectOf(g *resource.ServerGroup, ro resource.RolloutStatus) *resource.ApprovalSubject {
	i := installsOf(g, &ro)
	return &i.subject
}
