package control

import (
	"slices"
	"testing"

	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Row 21: the agent of a rack is told which files a return needs, of the revisions that are
// kept: current and last verified before the others. An agent that keeps none is not told.
func TestGroupKeepsFiles(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers(func(g *resource.ServerGroup) { g.Spec.Architectures = []string{"amd64"} }))
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	for _, v := range []string{"2.0", "30.0", "400.0"} {
		b.apply(entryOf(v))
		b.pass()
	}
	_, first := resource.SplitImage(imageOf("1.0"))
	var rest []string
	for _, v := range []string{"400.0", "30.0", "2.0"} {
		_, digest := resource.SplitImage(imageOf(v))
		rest = append(rest, digest)
	}
	m := b.modern(agent)
	m.connects()
	m.reports(off("n1"), off("n2"), off("n3"))
	b.settles(m)
	keep := b.rack(m).Rack.Keep
	if keep == nil || !slices.Equal(keep.Always, []string{first, rest[0]}) || !slices.Equal(keep.Older, rest[1:]) {
		t.Fatalf("%+v, want %s and %v", keep, first, rest)
	}
	b.acts(api.GroupRevert, api.GroupRequest{Revision: 2})
	b.settles(m)
	if keep = b.rack(m).Rack.Keep; keep == nil || !slices.Contains(keep.Always, rest[2]) || slices.Contains(keep.Older, rest[2]) || !slices.Contains(keep.Older, rest[0]) {
		t.Errorf("after a return to 2: %+v", keep)
	}
	m.caps = slices.DeleteFunc(slices.Clone(m.caps), func(c message.Capability) bool { return c == message.CapBootKeep })
	m.connects()
	b.settles(m)
	if keep = b.rack(m).Rack.Keep; keep != nil {
		t.Errorf("an agent that keeps nothing is told %+v", keep)
	}
}
