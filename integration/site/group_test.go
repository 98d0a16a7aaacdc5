package site

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	agentdaemon "rackboot/agent/daemon"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// osOf is the image of a version of the catalogue os, and its digest as it is booted.
func osOf(version string) (uki []byte, digest string) {
	uki = sim.UKI([]byte("unified kernel image of version " + version))
	return uki, digestOf(string(uki))
}

// entry pushes the image of a version, and is the catalogue's entry of it.
func (s *site) entry(version string) *resource.BootImage {
	s.t.Helper()
	uki, _ := osOf(version)
	repository := s.reg.Addr + "/demo/group"
	digests, err := sim.Login{}.Push(s.t.Context(), repository+":"+version, map[string][]sim.Layer{
		"amd64": {{MediaType: sim.UKIMediaType, Content: uki}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	b := &resource.BootImage{Spec: resource.BootImageSpec{
		Catalogue: "os", Version: version, MaxIgnition: "3.4.0",
		Architectures: map[string]resource.BootImageArch{"amd64": {Image: repository + "@" + digests["amd64"]}},
	}}
	b.Metadata.Name = entryName(version)
	b.Default()
	return b
}

func entryName(version string) string { return "os-" + strings.ReplaceAll(version, ".", "-") }

// nodes is the group of all servers.
func nodes(change ...func(*resource.ServerGroup)) *resource.ServerGroup {
	g := &resource.ServerGroup{Spec: resource.ServerGroupSpec{
		Selector: resource.Selector{MatchLabels: map[string]string{"role": "node"}}, Catalogue: "os",
		BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP},
		Rollout:    resource.RolloutSpec{Soak: protocol.Duration(50 * time.Millisecond)},
	}}
	g.Metadata.Name = "nodes"
	for _, c := range change {
		c(g)
	}
	g.Default()
	return g
}

// network has a group's servers boot their image at each power-on.
func network(g *resource.ServerGroup) { g.Spec.BootPolicy.Boot = resource.BootNetwork }

func manages(mode resource.OptIn) *resource.ManagedBootImages {
	m := &resource.ManagedBootImages{Spec: resource.ManagedBootImagesSpec{Mode: mode}}
	m.Metadata.Name = resource.ManagedBootImagesName
	m.Default()
	return m
}

// member is the claim of a server that boots its group's image.
func (s *site) member(server string, g *resource.ServerGroup) *resource.Claim {
	c := s.claim(server)
	c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootPolicy = "", &resource.ImageFrom{Group: g.Metadata.Name}, g.Spec.BootPolicy
	c.Default()
	return c
}

// groups starts hub and agent with managed boot images.
func (s *site) groups(objs ...resource.Object) (c agentdaemon.Config, stopAgent func()) {
	s.t.Helper()
	s.hub.Features.ManagedBootImages = true
	s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
	s.startHub()
	s.apply(s.manifests()...)
	s.apply(objs...)
	c = s.firstAgent()
	s.join(c)
	return c, s.startAgent(c)
}

// untilGroup waits for a group's status.
func (s *site) untilGroup(name, what string, ok func(resource.ServerGroupStatus) bool) resource.ServerGroupStatus {
	s.t.Helper()
	var last resource.ServerGroupStatus
	s.until(what+" of group "+name, func() bool {
		v, have := get[*resource.ServerGroup](s, name)
		if have {
			last = v.Status
		}
		return have && ok(last)
	}, func() any { return last })
	return last
}

func revision(number int) func(resource.ServerGroupStatus) bool {
	return func(st resource.ServerGroupStatus) bool { return st.Revision == number }
}

func verified(number int) func(resource.ServerGroupStatus) bool {
	return func(st resource.ServerGroupStatus) bool { return st.Revision == number && st.Verified == number }
}

// untilClaim waits for a condition of a claim whose message has the words.
func (s *site) untilClaim(name string, code resource.ConditionCode, words string) {
	s.t.Helper()
	var last []resource.ConditionState
	s.until(string(code)+" of "+name, func() bool {
		c, ok := get[*resource.Claim](s, name)
		if ok {
			last = c.Status.Conditions
		}
		return ok && tells(last, code, words)
	}, func() any { return last })
}

// tells says whether a condition is there whose message has the words.
func tells(conds []resource.ConditionState, code resource.ConditionCode, words string) bool {
	return slices.ContainsFunc(conds, func(c resource.ConditionState) bool { return c.Code == code && strings.Contains(c.Message, words) })
}

// untilStamp waits until an entry was proved.
func (s *site) untilStamp(name, server string) {
	s.t.Helper()
	var last resource.BootImageStatus
	s.until("the stamp of "+name, func() bool {
		b, ok := get[*resource.BootImage](s, name)
		if ok {
			last = b.Status
		}
		return ok && last.Stamp != nil
	}, func() any { return last })
	if last.Stamp.Server != server || last.Stamp.Evidence == "" || last.Stamp.HubVersion != "test" {
		s.t.Errorf("the stamp of %s: %+v", name, last.Stamp)
	}
}

// installedIs waits until a server runs from its disk, and says what is on it.
func (s *site) installedIs(i int, version string) {
	s.t.Helper()
	s.untilServer(s.servers[i].Name, "the disk boot after the installation", diskBoot)
	if _, want := osOf(version); s.servers[i].Disk.Digest() != want {
		s.t.Errorf("on the disk of %s is %s, and version %s is %s", s.servers[i].Name, s.servers[i].Disk.Digest(), version, want)
	}
}

// lines are version and cause of each revision of a group, in order; none without the hub.
func (s *site) lines(group string) (out []string) {
	s.t.Helper()
	list, err := s.client.Objects.List(s.t.Context(), resource.KindGroupRevision)
	if err != nil {
		return nil
	}
	byNumber := map[int]string{}
	for _, o := range list {
		if r := o.(*resource.GroupRevision); r.Spec.Group == group {
			byNumber[r.Spec.Number] = r.Spec.Version + " " + string(r.Spec.Cause)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		out = append(out, byNumber[n])
	}
	return out
}

// TestGroupFirstBoot is the point of seed 001: the image that a server gets at its first
// boot is the one of that day. A canary proves what nobody has booted, and who came before
// is not touched. The user data is translated, and what people gave stays as it is.
func TestGroupFirstBoot(t *testing.T) {
	t.Parallel()
	s := newSiteOf(t, 3, func(c *sim.ServerConfig) { c.UserData = true })
	s.reach(0, bmcsim.ReachRefused)
	stub := ignites("unused")
	stub.Spec.Data[resource.SecretUserData] = resource.Plain(`{"ignition":{"version":"2.2.0"},"passwd":{"users":[{"name":"core"}]}}`)
	g := nodes(starred, func(g *resource.ServerGroup) {
		g.Spec.Stub, g.Spec.Secrets = &resource.StubSpec{SecretRef: resource.Ref{Name: "node"}, Manage: true}, resource.SecretsSegment
	})
	s.groups(append(s.labelled("node*", "node", "node*"), stub, s.entry("1.0"), manages(resource.OptInAll), g)...)
	s.untilGroup("nodes", "the first revision", revision(1))
	secret, ok := get[*resource.Secret](s, "node")
	if !ok {
		t.Fatal("no Secret")
	}

	// The canary's BMC does not answer yet: the other one waits for its proof.
	s.apply(s.member("n1", g), s.member("n2", g))
	s.untilClaim("c-n2", resource.CondWaitingForStamp, "no server has booted os-1-0 yet")
	if n, _, _, _ := s.servers[1].Boots.Counts(); n != 0 {
		t.Error("it was booted before the canary")
	}
	s.reach(0, bmcsim.ReachOK)
	s.installedIs(0, "1.0")
	s.installedIs(1, "1.0")
	s.untilStamp("os-1-0", "n1")
	s.untilGroup("nodes", "the verified revision", verified(1))
	for _, i := range []int{0, 1} {
		if _, data := s.servers[i].Boots.UserData(); !strings.Contains(string(data), `"version":"3.`) || !strings.Contains(string(data), `"name":"core"`) {
			t.Errorf("%s got %q", s.servers[i].Name, data)
		}
	}
	if now, ok := get[*resource.Secret](s, "node"); !ok || now.Metadata.Generation != secret.Metadata.Generation || now.Status.Version != secret.Status.Version {
		t.Errorf("the Secret that was named: %+v", now)
	}
	if m, ok := get[*resource.Secret](s, "node"+resource.ManagedStubSuffix); !ok || m.Status.Version == 0 {
		t.Errorf("the translated one: %+v", m)
	}

	// A newer entry: who joins boots it, and proves it.
	s.apply(s.entry("2.0"))
	s.untilGroup("nodes", "the second revision", revision(2))
	s.apply(s.member("n3", g))
	s.installedIs(2, "2.0")
	s.untilStamp("os-2-0", "n3")
	s.untilGroup("nodes", "the counts, and nothing that is wrong or waits", func(st resource.ServerGroupStatus) bool {
		return verified(2)(st) && st.Counts != nil && *st.Counts == resource.GroupCounts{Servers: 3, Current: 1, Older: 2} &&
			!has(st.Conditions, resource.CondImagesDegraded) && !has(st.Conditions, resource.CondWaitingForStamp)
	})
	if got := s.lines("nodes"); !slices.Equal(got, []string{"1.0 catalogue", "2.0 catalogue"}) {
		t.Errorf("history: %q", got)
	}
	if d, err := s.client.Groups.Diff(t.Context(), "nodes", 1, 2); err != nil || !slices.ContainsFunc(d.Changes, func(c api.GroupChange) bool {
		return c.Field == "bootImage" && c.From == "os-1-0" && c.To == "os-2-0"
	}) {
		t.Errorf("%+v, %v", d, err)
	}

	for _, i := range []int{0, 1} {
		if n, disk, _, installs := s.servers[i].Boots.Counts(); n != 1 || disk != 1 || installs != 1 {
			t.Errorf("%s: %d network boots, %d disk boots and %d installations, want one of each", s.servers[i].Name, n, disk, installs)
		}
		if c, ok := get[*resource.Claim](s, "c-"+s.servers[i].Name); !ok || has(c.Status.Conditions, resource.CondReprovisionRequired) {
			t.Errorf("%+v", c)
		}
	}
}

// TestGroupOfFiles is the same with an entry of files, which the hub fetches, verifies and
// gives to the agent.
func TestGroupOfFiles(t *testing.T) {
	t.Parallel()
	s, v := newSite(t, 2), newVendor(t)
	s.hub.Features.ManagedBootImages = true
	c := s.follows(v)
	s.startHub()
	g := nodes(func(g *resource.ServerGroup) { g.Spec.Catalogue = "live" })
	s.apply(append(s.manifests(), manages(resource.OptInAll), g, v.image())...)
	s.join(c)
	s.startAgent(c)
	s.untilGroup("nodes", "the first revision", revision(1))
	for _, i := range []int{0, 1} {
		s.apply(s.member(s.servers[i].Name, g))
		s.untilServer(s.servers[i].Name, "the disk boot after the installation", diskBoot)
		if got := s.servers[i].Disk.Digest(); got != digestOf(string(liveInitramfs())) {
			t.Errorf("installed %s", got)
		}
		s.untilStamp("live-42-1", "n1")
	}
	s.untilGroup("nodes", "the verified revision", verified(1))
	if n := v.times("kernel"); n != 1 {
		t.Errorf("the kernel was fetched %d times", n)
	}
	if _, err := s.client.Objects.Delete(t.Context(), resource.KindBootImage, "live-42-1"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("deleted while a group boots it: %v", err)
	}
}
