package control

import (
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// The hub dies between each two writes about a group, and what it began is completed: one
// revision with the next number, its consequences with it, and nothing twice.
func TestGroupCrashes(t *testing.T) {
	begin := func(t *testing.T) (*bench, string) {
		b, _, agent := groupSite(t, optIn(resource.OptInAll), userDataSecret(spec2("ann")), entryOf("1.0"), workers(withStub(true)))
		b.apply(fromWorkers("c1", "n1"))
		b.pass()
		return b, agent
	}
	next := func(b *bench) func() { return func() { b.pass() } }
	for point, c := range map[string]struct {
		before func(b *bench, agent string)
		die    func(b *bench, agent string) func()
		want   string
	}{
		"hub.group.stub": {
			func(b *bench, _ string) { b.apply(userDataSecret(spec2("bob"))) }, func(b *bench, _ string) func() { return next(b) },
			"1:1.0/catalogue 2:1.0/stub @2",
		},
		"hub.group.revised": {
			func(b *bench, _ string) { b.apply(entryOf("2.0")) }, func(b *bench, _ string) func() { return next(b) },
			"1:1.0/catalogue 2:2.0/catalogue @2",
		},
		"hub.group.current": {
			func(b *bench, _ string) { b.apply(entryOf("2.0")) }, func(b *bench, _ string) func() { return next(b) },
			"1:1.0/catalogue 2:2.0/catalogue @2",
		},
		"hub.group.stamped": {
			func(b *bench, agent string) { b.proves(agent, "c1") }, func(b *bench, _ string) func() { return b.soaks },
			"1:1.0/catalogue @1",
		},
		"hub.group.verified": {
			func(b *bench, agent string) { b.proves(agent, "c1") }, func(b *bench, _ string) func() { return b.soaks },
			"1:1.0/catalogue @1",
		},
		"hub.group.said": {
			func(*bench, string) {}, func(b *bench, _ string) func() { return func() { _, _ = b.act(api.GroupPin, api.GroupRequest{}) } },
			"1:1.0/catalogue @1",
		},
	} {
		t.Run(point, func(t *testing.T) {
			b, agent := begin(t)
			c.before(b, agent)
			b.dies(point, c.die(b, agent))
			b.pass()
			b.wantHistory(point, c.want)
			g, entry := b.group(), (*resource.BootImage)(nil)
			entry, _ = store.Peek[*resource.BootImage](b.store.Objects, "os-1-0")
			switch point {
			case "hub.group.stamped":
				if entry.Status.Stamp == nil {
					t.Error("no stamp")
				}
			case "hub.group.verified":
				if g.Status.Verified != 1 {
					t.Errorf("%+v", g.Status)
				}
			case "hub.group.said":
				if g.Status.Pinned == nil {
					t.Errorf("%+v", g.Status)
				}
			case "hub.group.revised", "hub.group.current":
				if h := g.Status.HotLoop; h == nil || h.Count != 1 || !strings.Contains(h.Value, "amd64=") {
					t.Errorf("what was applied counts once: %+v", h)
				}
			}
		})
	}
}

// A return that died between its two writes is finished by the next pass, with the pin and
// the rejection; one that died before a prune is pruned; a hold of a group is kept.
func TestGroupCrashesOfWords(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers(func(g *resource.ServerGroup) { g.Spec.HistoryLimit = 2 }))
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	b.apply(entryOf("2.0"))
	b.pass()
	b.dies("hub.group.revised", func() { b.acts(api.GroupRevert, api.GroupRequest{}) })
	b.pass()
	g := b.group()
	if g.Status.Revision != 3 || g.Status.Pinned == nil || g.Status.Pinned.By != "ann" || g.Status.Rejected["os-2-0"].Revision != 2 || g.Status.Verified != 3 {
		t.Errorf("%+v", g.Status)
	}
	b.dies("hub.group.pruned", func() { b.acts(api.GroupUnpin, api.GroupRequest{Forgive: true}) })
	b.pass()
	if got := b.history(); strings.Contains(got, "2:") {
		t.Errorf("history %s", got)
	}
	fight := func(with string) {
		b.apply(workers(func(g *resource.ServerGroup) { g.Spec.Image = imageOf(with) }))
		b.pass()
		if _, err := b.act(api.GroupAdopt, api.GroupRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	fight("9.a") // after 2.0 was applied twice
	b.pass()
	fight("9.ab")
	b.dies("hub.group.held", b.pass)
	b.pass()
	if h := b.group().Status.HotLoop; h == nil || !h.Held {
		t.Errorf("%+v", h)
	}
}
