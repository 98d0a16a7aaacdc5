package control

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A shard that goes and comes back is newer than what the agent has of it, and a
// server that comes first by name moves no other to another shard.
func TestShardsComeAndGo(t *testing.T) {
	b, agent := joined(t)
	var more []resource.Object
	for i := range message.MaxServersPerShard {
		name := fmt.Sprintf("x%02d", i)
		more = append(more, storetest.BMC("b"+name, "r1"), storetest.Server(name, "b"+name, "boot", fmt.Sprintf("52:54:00:00:01:%02x", i)))
	}
	b.apply(more...)
	b.pass()
	first := last[message.RackDoc](b, agent, "rack/1")
	if len(first.Servers) != 2 {
		t.Fatalf("%d servers in the second shard", len(first.Servers))
	}
	b.acks(agent)
	b.sent = nil
	b.apply(storetest.BMC("b-first", "r1"), storetest.Server("a-first", "b-first", "boot", "52:54:00:00:02:01"))
	b.restart()
	b.greets(agent)
	b.pass()
	if got := b.took(agent); fmt.Sprint(got) != "[rack/1]" {
		t.Errorf("a new server changed %v", got)
	}
	for _, name := range []string{"a-first", first.Servers[0].Server, first.Servers[1].Server} {
		if _, err := b.store.Delete(ctx(t), resource.KindServer, name); err != nil {
			t.Fatal(err)
		}
	}
	b.pass()
	if l, _ := b.store.Ledgers.Get(agent); len(l.Sent) != 2 {
		t.Errorf("documents %v", slices.Sorted(maps.Keys(l.Sent)))
	}
	b.apply(storetest.Server("a-first", "b-first", "boot", "52:54:00:00:02:01"))
	b.pass()
	if again := last[message.RackDoc](b, agent, "rack/1"); !again.Head.Newer(first.Head) || again.Head.Version <= first.Head.Version+1 {
		t.Errorf("the shard came back as %v, it was %v", again.Head, first.Head)
	}
}
