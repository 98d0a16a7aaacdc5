package control

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// Row 9 (OCPBUGS-69674): of a group with servers of two architectures each boots the image
// of its own; one of which none is known waits, and gets no other's.
func TestGroupMixed(t *testing.T) {
	arm := storetest.Server("n4", "b4", "boot", "52:54:00:00:00:04")
	arm.Metadata.Labels, arm.Spec.Architecture = map[string]string{"row": "7"}, "arm64"
	b, _, agent := groupSite(t, storetest.BMC("b4", "r1"), arm, optIn(resource.OptInAll), entryOf("1.0", func(e *resource.BootImage) {
		e.Spec.Architectures["arm64"] = resource.BootImageArch{Image: imageOf("9.arm64")}
	}), workers(), fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	b.apply(fromWorkers("c2", "n4"))
	b.pass()
	for claim, version := range map[string]string{"c1": "1.0", "c2": "9.arm64"} {
		_, want := resource.SplitImage(imageOf(version))
		if cfg := b.configOf(claim); cfg == nil || cfg.Spec.Image.Digest != want {
			t.Errorf("%s: %+v", claim, cfg)
		}
	}
	if v := b.groupRevision(1).Spec.Verified; len(v["amd64"]) != 1 || len(v["arm64"]) != 1 || v["amd64"][0].SHA256 == v["arm64"][0].SHA256 {
		t.Errorf("row 22: %+v", v)
	}
}

// Rows 10, 15 and 16: user data is judged though the image is current, also what is no
// object; nothing is changed, and that is said until it is corrected, or the group is opted
// out.
func TestGroupStubOfCurrentImage(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"a list":           {`[1]`, "NotAnObject"},
		"null":             {`null`, "NotAnObject"},
		"a string":         {`"x"`, "NotAnObject"},
		"no version":       {`{}`, "UnknownVersion"},
		"a version of 9":   {`{"ignition":{"version":"9.0.0"}}`, "UnknownVersion"},
		"what is given up": {`{"ignition":{"version":"2.2.0"},"networkd":{"units":[{"name":"a.network","contents":"x"}]}}`, "UsesNetworkd"},
	} {
		t.Run(name, func(t *testing.T) {
			b, _, agent := groupSite(t, optIn(resource.OptInAll), userDataSecret(spec2("ann")), entryOf("1.0"), workers(withStub(true)))
			b.apply(fromWorkers("c1", "n1"))
			b.pass()
			b.proves(agent, "c1")
			b.soaks()
			b.wantConds("current")
			b.apply(userDataSecret(c.data))
			b.pass()
			b.wantHistory(name, "1:1.0/catalogue @1")
			b.wantConds(name, resource.CondImagesDegraded, resource.CondStubRefused)
			counted := "# HELP rackboot_hub_group_conditions Server groups that have a condition, by its code.\n# TYPE rackboot_hub_group_conditions gauge\n" +
				`rackboot_hub_group_conditions{code="BootImageUpdateDegraded"} 1` + "\n" + `rackboot_hub_group_conditions{code="StubRefused"} 1` + "\n"
			if err := testutil.GatherAndCompare(b.reg, strings.NewReader(counted), "rackboot_hub_group_conditions"); err != nil {
				t.Error(err)
			}
			if g := b.group(); !strings.Contains(g.Status.Conditions[0].Message, c.want) {
				t.Errorf("%+v", g.Status.Conditions)
			}
			b.apply(fromWorkers("c2", "n2")) // which boots what the revision has
			b.pass()
			if cfg := b.configOf("c2"); cfg == nil || *cfg.Spec.Ignition != *b.groupRevision(1).Spec.Stub {
				t.Errorf("%+v", cfg)
			}
			b.apply(optIn(resource.OptInNone))
			b.pass()
			b.wantConds("opted out")
			b.apply(optIn(resource.OptInAll), userDataSecret(spec2("bob")))
			b.pass()
			b.wantConds("corrected")
			b.wantHistory("corrected", "1:1.0/catalogue 2:1.0/stub @2")
		})
	}
}

// Row 11 and seed 001: a group that is not opted in goes on with the Secret that it names
// as it is, beside one for which the same was translated.
func TestGroupStubOfOthers(t *testing.T) {
	others := workers(withStub(false), func(g *resource.ServerGroup) {
		g.Metadata.Name, g.Spec.Selector.MatchLabels, g.Spec.Architectures = "others", map[string]string{"row": "8"}, []string{"amd64"}
		g.Spec.Image = imageOf("9.mine")
	})
	b, _, _ := groupSite(t, optIn(resource.OptInAll), userDataSecret(spec2("ann")), entryOf("1.0"), workers(withStub(true)), others)
	if got := b.groupRevision(1).Spec.Stub.Secret; got != "node-spec-3-managed" {
		t.Errorf("the managed one has %s", got)
	}
	r, err := store.Peek[*resource.GroupRevision](b.store.Objects, "others-1")
	if err != nil || r.Spec.Stub == nil || r.Spec.Stub.Secret != "node" {
		t.Fatalf("%+v, %v", r, err)
	}
	if raw, err := b.control.Env.RawIgnition(*r.Spec.Stub); err != nil || string(raw) != spec2("ann") {
		t.Errorf("%s, %v", raw, err)
	}
}
