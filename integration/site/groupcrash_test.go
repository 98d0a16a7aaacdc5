package site

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rackboot/integration/sim"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// groupPoints are the crash points about groups, but those of roll-outs.
func groupPoints(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("../../hub/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`[cC]rash\.At\("(hub\.group\.[^"]+)"`).FindAllStringSubmatch(string(raw), -1) {
			all = append(all, m[1])
		}
	}
	if len(all) < 8 {
		t.Fatalf("%v", all)
	}
	return all
}

// TestHubKilledInAGroup kills the hub wherever it is between two writes about a group. Each
// revision is there once, and its server is installed once.
func TestHubKilledInAGroup(t *testing.T) {
	flow := statetest.NewChild(t, hubMain)
	t.Parallel()
	for _, point := range groupPoints(t) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newSiteOf(t, 1, func(c *sim.ServerConfig) { c.UserData = true })
			s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
			s.hub.Features.ManagedBootImages = true
			k := &killed{site: s, flow: flow}
			k.begins(point, 1, s.manifests(), s.firstAgent())
			if point == "hub.group.held" {
				k.fight()
			} else {
				k.history()
			}
			if !k.died {
				t.Errorf("the hub never came to %s; it passed %v", point, k.hub.Passed())
			}
		})
	}
}

func (k *killed) applies(what string, objs ...resource.Object) {
	k.t.Helper()
	k.try(what, func() error { _, err := k.client.Objects.Apply(k.t.Context(), objs, false); return err })
}

func (k *killed) acts(action api.GroupAction) {
	k.t.Helper()
	k.try(string(action), func() error {
		_, err := k.client.Groups.Command(k.t.Context(), "nodes", action, api.GroupRequest{Reason: "because"})
		return err
	})
}

func (k *killed) seeGroup(what string, ok func(resource.ServerGroupStatus) bool) {
	k.t.Helper()
	k.until(what, func() bool {
		k.revive()
		g, there := get[*resource.ServerGroup](k.site, "nodes")
		return there && ok(g.Status)
	}, func() any { g, _ := get[*resource.ServerGroup](k.site, "nodes"); return g })
}

// history gives a group its revisions until the oldest that nobody needs are removed.
func (k *killed) history() {
	t := k.t
	t.Helper()
	stub := ignites("unused")
	stub.Spec.Data[resource.SecretUserData] = resource.Plain(`{"ignition":{"version":"2.2.0"},"passwd":{"users":[{"name":"core"}]}}`)
	g := nodes(func(g *resource.ServerGroup) {
		g.Spec.HistoryLimit = 2
		g.Spec.Stub, g.Spec.Secrets = &resource.StubSpec{SecretRef: resource.Ref{Name: "node"}, Manage: true}, resource.SecretsSegment
	})
	k.applies("the group", stub, k.entry("1.0"), manages(resource.OptInAll), g)
	k.seeGroup("the first revision", revision(1))
	k.applies("the claim", k.member("n1", g))
	k.seeGroup("the verified revision", verified(1))
	k.see("the disk boot after the installation", func() bool {
		v, ok := get[*resource.Server](k.site, "n1")
		return ok && v.Status.Report != nil && diskBoot(v)
	})
	k.acts(api.GroupPin)
	k.seeGroup("the pin", func(st resource.ServerGroupStatus) bool { return st.Pinned != nil && st.Pinned.Revision == 1 })
	k.acts(api.GroupUnpin)
	for i, version := range []string{"2.0", "3.0", "4.0"} {
		k.applies("version "+version, k.entry(version))
		k.seeGroup("the next revision", revision(i+2))
	}
	want := []string{"1.0 catalogue", "3.0 catalogue", "4.0 catalogue"}
	k.see("what is kept of the history", func() bool { return slices.Equal(k.lines("nodes"), want) })
	k.untilStamp("os-1-0", "n1")
	if _, data := k.servers[0].Boots.UserData(); !strings.Contains(string(data), `"version":"3.`) {
		t.Errorf("the server got %q", data)
	}
	if _, digest := osOf("1.0"); k.servers[0].Disk.Digest() != digest {
		t.Errorf("on the disk is %s", k.servers[0].Disk.Digest())
	}
	k.installedOnce()
}

// fight puts an image of one's own in the place of the catalogue's each time: the group is
// held, which names who does it, until somebody says that it is over.
func (k *killed) fight() {
	t := k.t
	t.Helper()
	k.applies("the group", k.entry("1.0"), manages(resource.OptInAll), nodes())
	k.seeGroup("the first revision", revision(1))
	held := func(st resource.ServerGroupStatus) bool { return st.HotLoop != nil && st.HotLoop.Held }
	at := 1
	for _, version := range []string{"9.1", "9.2", "9.3"} {
		k.applies("an image of one's own", nodes(func(g *resource.ServerGroup) { g.Spec.Image = k.entry(version).Spec.Architectures["amd64"].Image }))
		at++
		k.seeGroup("that image", revision(at))
		k.acts(api.GroupAdopt)
		k.seeGroup("the catalogue's again", func(st resource.ServerGroupStatus) bool {
			return st.Revision == at+1 && version != "9.3" || held(st) && version == "9.3"
		})
		if version != "9.3" {
			at++
		}
	}
	k.seeGroup("the hold", func(st resource.ServerGroupStatus) bool {
		return held(st) && st.HotLoop.Writer != "" && has(st.Conditions, resource.CondGroupHotLoop) && has(st.Conditions, resource.CondImagesDegraded)
	})
	k.acts(api.GroupAck)
	k.seeGroup("the end of it", func(st resource.ServerGroupStatus) bool {
		return st.Revision == at+1 && !held(st) && !has(st.Conditions, resource.CondGroupHotLoop)
	})
}
