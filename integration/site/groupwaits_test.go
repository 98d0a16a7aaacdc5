package site

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// labelled are the manifests with a role for each server, in order; one with a star is a
// canary too.
func (s *site) labelled(roles ...string) (out []resource.Object) {
	for _, o := range s.manifests() {
		if v, ok := o.(*resource.Server); ok {
			i := slices.IndexFunc(s.servers, func(sv *sim.Server) bool { return sv.Name == v.Metadata.Name })
			role, canary := strings.CutSuffix(roles[i], "*")
			v.Metadata.Labels = map[string]string{"role": role, "canary": strconv.FormatBool(canary)}
		}
		out = append(out, o)
	}
	return out
}

// ofRole is the group of the servers with a role, which is its name too.
func ofRole(role string) func(*resource.ServerGroup) {
	return func(g *resource.ServerGroup) {
		g.Metadata.Name, g.Spec.Selector.MatchLabels = role, map[string]string{"role": role}
	}
}

// starred has those servers be the group's canaries that have a star.
func starred(g *resource.ServerGroup) {
	g.Spec.Rollout.Canary = resource.CanarySpec{MatchLabels: map[string]string{"canary": "true"}}
}

func skipped(why resource.SkipReason, revision int) func(resource.ServerGroupStatus) bool {
	return func(st resource.ServerGroupStatus) bool {
		return st.Enrolment != nil && st.Enrolment.Skipped == why && st.Revision == revision
	}
}

// TestGroupOptOut: with the feature off nothing is managed; and a group that is opted out
// keeps the image that it has, also for who joins.
func TestGroupOptOut(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	g := nodes()
	s.startHub()
	s.apply(append(s.manifests(), s.entry("1.0"), manages(resource.OptInAll), g, s.member("n1", g))...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.untilGroup("nodes", "the word that the feature is off", skipped(resource.SkipFeatureOff, 0))
	s.untilClaim("c-n1", resource.CondNoRevision, "nodes")
	s.stopHub()
	s.hub.Features.ManagedBootImages = true
	s.startHub()
	s.installedIs(0, "1.0")
	s.untilStamp("os-1-0", "n1")

	s.apply(manages(resource.OptInNone), s.entry("2.0"))
	s.untilGroup("nodes", "the end of its enrolment", skipped(resource.SkipOptedOut, 1))
	s.apply(s.member("n2", g))
	s.installedIs(1, "1.0")
	if got := s.lines("nodes"); len(got) != 1 {
		t.Errorf("history: %q", got)
	}
}

// TestGroupAltered: an entry is never altered in place. One that is deleted and made again
// with other content is another one, for which the stamp of before does not count: until a
// canary has proved it, others boot what is verified.
func TestGroupAltered(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	g := nodes(starred)
	s.groups(append(s.labelled("node*", "node*", "node"), s.entry("1.0"), manages(resource.OptInAll), g)...)
	s.apply(s.member("n1", g))
	s.installedIs(0, "1.0")
	s.untilStamp("os-1-0", "n1")
	s.untilGroup("nodes", "the verified revision", verified(1))

	altered := s.entry("1.1")
	altered.Metadata.Name, altered.Spec.Version = "os-1-0", "1.0"
	if _, err := s.client.Objects.Apply(t.Context(), []resource.Object{altered}, false); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("altered in place: %v", err)
	}
	s.reach(1, bmcsim.ReachRefused) // the canary that is left
	if _, err := s.client.Objects.DeleteBootImage(t.Context(), "os-1-0", false); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "ServerGroup/nodes (revision 1)") {
		t.Errorf("deleted while a group boots it: %v", err)
	}
	if _, err := s.client.Objects.DeleteBootImage(t.Context(), "os-1-0", true); err != nil {
		t.Fatal(err)
	}
	s.until("the end of the entry", func() bool { _, ok := get[*resource.BootImage](s, "os-1-0"); return !ok }, func() any { return "an entry" })
	s.apply(altered)
	s.untilGroup("nodes", "the second revision", revision(2))
	s.apply(s.member("n2", g), s.member("n3", g))
	s.untilGroup("nodes", "the word that it waits", func(st resource.ServerGroupStatus) bool {
		return tells(st.Conditions, resource.CondWaitingForStamp, "no server has booted os-1-0 yet")
	})
	s.installedIs(2, "1.0")
	s.reach(1, bmcsim.ReachOK)
	s.installedIs(1, "1.1")
	s.untilStamp("os-1-0", "n2")
}

// TestGroupHubUpgrade: what was proved under another version of the hub counts no more for
// a group that has not verified it: a canary of it proves it again.
func TestGroupHubUpgrade(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	first, second := nodes(ofRole("first")), nodes(ofRole("second"), starred)
	s.groups(append(s.labelled("first", "second*", "second"), s.entry("1.0"), manages(resource.OptInAll), first)...)
	s.apply(s.member("n1", first))
	s.installedIs(0, "1.0")
	s.untilStamp("os-1-0", "n1")
	s.untilGroup("first", "the verified revision", verified(1))
	s.stopHub()
	s.version = "next"
	s.startHub()
	s.reach(1, bmcsim.ReachRefused) // the canary
	s.apply(second, s.member("n2", second), s.member("n3", second))
	s.untilClaim("c-n3", resource.CondWaitingForStamp, "under version test of the hub, and this is next")
	if n, _, _, _ := s.servers[2].Boots.Counts(); n != 0 {
		t.Error("it was booted")
	}
	s.reach(1, bmcsim.ReachOK)
	s.installedIs(1, "1.0")
	s.installedIs(2, "1.0")
	s.until("the stamp of this hub", func() bool {
		b, ok := get[*resource.BootImage](s, "os-1-0")
		return ok && b.Status.Stamp != nil && b.Status.Stamp.HubVersion == "next" && b.Status.Stamp.Server == "n2"
	}, func() any { b, _ := get[*resource.BootImage](s, "os-1-0"); return b.Status })
	s.installedOnce()
}

// TestGroupsApart: what is wrong with one group is its own; and an image of an owner's own
// is not touched by what others have. It heals when its cause does.
func TestGroupsApart(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	good, ill, own := nodes(ofRole("good")), nodes(ofRole("ill")), nodes(ofRole("own"))
	ill.Spec.Stub, ill.Spec.Secrets = &resource.StubSpec{SecretRef: resource.Ref{Name: "node"}, Manage: true}, resource.SecretsSegment
	own.Spec.Image = s.entry("9.9").Spec.Architectures["amd64"].Image
	stub := ignites("core")
	stub.Spec.Data[resource.SecretUserData] = resource.Plain(`{"ignition":{"version":"2.2.0"},"networkd":{"units":[{"name":"a.network","contents":"x"}]}}`)
	s.groups(append(s.labelled("good", "ill", "own"), stub, s.entry("1.0"), manages(resource.OptInAll), good, ill, own)...)
	s.untilGroup("ill", "what is wrong", func(st resource.ServerGroupStatus) bool {
		return st.Revision == 0 && tells(st.Conditions, resource.CondStubRefused, "UsesNetworkd at $.networkd") && has(st.Conditions, resource.CondImagesDegraded)
	})
	s.apply(s.member("n1", good), s.member("n2", ill), s.member("n3", own))
	s.installedIs(0, "1.0")
	s.installedIs(2, "9.9")
	s.untilClaim("c-n2", resource.CondNoRevision, "ill")
	s.untilStamp("os-1-0", "n1")
	s.apply(s.entry("2.0"))
	healthy := func(revision int) func(resource.ServerGroupStatus) bool {
		return func(st resource.ServerGroupStatus) bool {
			return st.Revision == revision && !has(st.Conditions, resource.CondImagesDegraded)
		}
	}
	s.untilGroup("good", "the second revision", healthy(2))
	s.apply(ignites("core"))
	s.untilGroup("ill", "its health", healthy(1))
	s.installedIs(1, "2.0")
	st := s.untilGroup("own", "its image", healthy(1))
	if !tells(st.Conditions, resource.CondGroupSkipped, "owner's own") || !slices.Equal(s.lines("own"), []string{" manual"}) {
		t.Errorf("%+v, %q", st, s.lines("own"))
	}
	for i := range s.servers {
		if n, _, _, installs := s.servers[i].Boots.Counts(); n != 1 || installs != 1 {
			t.Errorf("%s: %d network boots and %d installations", s.servers[i].Name, n, installs)
		}
	}
}
