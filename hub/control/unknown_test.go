package control

import (
	"slices"
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// What a hub has no record of it does not call replaced: it may be the hub that was
// emptied, or restored from a copy of before the agent joined. (Obeying "stop this agent"
// would give up the holds that it enforces.)
func TestAbsenceIsNotAFact(t *testing.T) {
	const unknown, replaced = resource.ConditionCode("AgentUnknown"), resource.CondAgentReplaced
	for name, row := range map[string]struct {
		lose func(b *bench)
		want resource.ConditionCode
	}{
		"everything": {func(b *bench) {
			b.mem = storetest.NewMemory()
		}, unknown},
		"everything, and the rack was made again": {func(b *bench) {
			b.mem = storetest.NewMemory()
			b.restart()
			b.apply(storetest.Site()...)
		}, unknown},
		"everything, and another agent joined": {func(b *bench) {
			b.mem = storetest.NewMemory()
			b.restart()
			b.apply(storetest.Site()...)
			b.join("r1")
		}, unknown},
		"the Agent, which somebody deleted": {func(b *bench) {
			if _, err := b.store.Delete(ctx(b.t), resource.KindAgent, "r1-2"); err != nil {
				b.t.Fatal(err)
			}
		}, replaced},
		"the Agent, deleted and its rack freed": {func(b *bench) {
			if _, err := b.store.Delete(ctx(b.t), resource.KindAgent, "r1-2"); err != nil {
				b.t.Fatal(err)
			}
			b.pass()
		}, replaced},
		"the Agent, deleted, and another joined": {func(b *bench) {
			if _, err := b.store.Delete(ctx(b.t), resource.KindAgent, "r1-2"); err != nil {
				b.t.Fatal(err)
			}
			b.pass()
			b.join("r1")
		}, replaced},
	} {
		t.Run(name, func(t *testing.T) {
			b, first := joined(t)
			if _, err := b.store.Delete(ctx(t), resource.KindAgent, first); err != nil {
				t.Fatal(err)
			}
			b.pass()
			agent := b.join("r1") // r1-2: what is made anew begins at 1
			row.lose(b)
			b.restart()
			for _, leaf := range []string{message.LeafHello, message.LeafReport} {
				b.sent = nil
				b.says(agent, leaf, message.Hello{Session: "s"})
				m := last[message.Sync](b, agent, message.LeafSync)
				if m.Refused != row.want || len(m.Ended) > 0 {
					t.Errorf("its %s is answered with %q, want %q", leaf, m.Refused, row.want)
				}
			}
		})
	}
}

// An Agent whose rack says nothing of it is not called replaced either.
func TestAgentWithoutItsRack(t *testing.T) {
	b, agent := joined(t)
	r, err := getRack(b, "r1")
	if err != nil {
		t.Fatal(err)
	}
	r.Status.Agent, r.Status.Term = "", 0
	if err := b.store.Objects.Put(ctx(t), r); err != nil {
		t.Fatal(err)
	}
	b.sent = nil
	b.says(agent, message.LeafHello, message.Hello{Session: "s"})
	if m := last[message.Sync](b, agent, message.LeafSync); m.Refused != "AgentUnknown" {
		t.Errorf("answered with %q", m.Refused)
	}
	if got := b.agentConds(agent); !slices.Contains(got, "AgentUnknown") || slices.Contains(got, resource.CondAgentReplaced) {
		t.Errorf("conditions %v", got)
	}
}

func getRack(b *bench, name string) (*resource.Rack, error) {
	return store.Get[*resource.Rack](b.store.Objects, name)
}
