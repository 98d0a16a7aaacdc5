package control

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Whatever changes about a live claim: the server boots what it was given, and a
// difference in what would be installed is said (seed 000 hole 3; facts, boot policy 7
// row 16).
func TestLiveClaimNeverChangesSilently(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*bench)
		said   bool
	}{
		{"nothing", func(*bench) {}, false},
		{"another image", liveClaim(func(c *resource.Claim) { c.Spec.Image = "registry.example/os:2" }), true},
		{"the image by its digest", liveClaim(func(c *resource.Claim) { c.Spec.Image = "registry.example/os@" + exampleDigest }), true},
		{"another first boot", liveClaim(func(c *resource.Claim) { c.Spec.BootPolicy.FirstBoot = resource.FirstBootPxe }), true},
		{"always from the network", liveClaim(func(c *resource.Claim) { c.Spec.BootPolicy.Boot = resource.BootNetwork }), true},
		{"other restarts", liveClaim(func(c *resource.Claim) { c.Spec.BootPolicy.OSReboot = resource.OSRebootRearm }), true},
		{"the defaults, spelled out", liveClaim(func(c *resource.Claim) {
			c.Spec.BootPolicy.Boot, c.Spec.BootPolicy.OSReboot = resource.BootHdd, resource.OSRebootSafeStop
		}), false},
		{"other kernel arguments", liveClaim(func(c *resource.Claim) { c.Spec.KernelArgs = "quiet" }), true},
		{"no user data", liveClaim(func(c *resource.Claim) { c.Spec.IgnitionSecretRef = nil }), true},
		{"other user data in the Secret", func(b *bench) { b.apply(userDataSecret(ignite("eve"))) }, true},
		{"the tag has moved, and the hub restarts", func(b *bench) { b.restart() }, false},
		{"another label on the server", func(b *bench) {
			s, err := store.Get[*resource.Server](b.store.Objects, "n1")
			if err != nil {
				b.t.Fatal(err)
			}
			s.Metadata.Labels = map[string]string{"row": "8"}
			s.Metadata.Revision, s.Status = 0, resource.ServerStatus{}
			b.apply(s)
		}, false},
		{"another selector", liveClaim(func(c *resource.Claim) { c.Spec.ServerSelector.MatchLabels = map[string]string{"row": "8"} }), false},
	} {
		b := newBench(t, &movingTag{})
		b.kek = strings.Repeat("5e", 32)
		b.restart()
		site := storetest.Site()
		for _, o := range site {
			if o.Head().Metadata.Name == "n1" {
				o.Head().Metadata.Labels = map[string]string{"row": "7"}
			}
		}
		b.apply(append(site, userDataSecret(ignite("ann")))...)
		m, key := b.modern(b.join("r1")), sealKey(t)
		m.sealKey = key.Public()
		m.connects()
		m.reports(off("n1"), off("n2"))
		b.apply(liveClaimOf())
		b.settles(m)
		b.settles(m)
		was, boot := b.config("c1"), b.rack(m).Servers[0].Boot
		if boot == nil || b.claim("c1").Status.Server != "n1" {
			t.Fatalf("%s: nothing to boot: %+v", c.name, b.claim("c1").Status)
		}
		c.change(b)
		m.connects()
		m.reports(off("n1"), off("n2"))
		b.settles(m)
		b.settles(m)
		is := b.config("c1")
		if diff := cmp.Diff(was.Spec, is.Spec); diff != "" || is.Metadata.UID != was.Metadata.UID || b.configs() != 1 {
			t.Errorf("%s: the configuration changed: %s", c.name, diff)
		}
		if now := b.rack(m).Servers[0].Boot; now == nil || now.Image.Digest != boot.Image.Digest || now.BootPolicy != boot.BootPolicy || string(now.Grant) != string(boot.Grant) {
			t.Errorf("%s: the agent is told %+v", c.name, now)
		}
		if cl := b.claim("c1"); strings.Contains(codes(cl.Status.Conditions), "ReprovisionRequired") != c.said || cl.Status.Server != "n1" {
			t.Errorf("%s: conditions %s", c.name, codes(cl.Status.Conditions))
		}
	}
}

func liveClaimOf() *resource.Claim {
	c := claimWithData("c1", "")
	c.Spec.ServerRef, c.Spec.ServerSelector = nil, &resource.Selector{MatchLabels: map[string]string{"row": "7"}}
	return c
}

func liveClaim(change func(*resource.Claim)) func(*bench) {
	return func(b *bench) {
		c := liveClaimOf()
		change(c)
		b.apply(c)
	}
}

// User data that was made again under its name is no difference after an import.
func TestImportOfUserData(t *testing.T) {
	m := export(t)
	objs := m.objects()
	for _, o := range objs {
		switch o := o.(type) {
		case *resource.Claim:
			o.Spec.IgnitionSecretRef = &resource.Ref{Name: "node"}
		case *resource.BootConfiguration:
			o.Spec.Ignition = &resource.IgnitionRef{Secret: "node", UID: "there", Version: 4, Digest: "hmac"}
		}
	}
	b := newBench(t, &movingTag{})
	b.kek = strings.Repeat("5e", 32)
	b.restart()
	b.apply(userDataSecret(ignite("ann")))
	m.into(b, api.ImportRequest{AcceptKeys: []string{api.AcceptAllKeys}}, objs...)
	b.pass()
	if got := codes(b.claim("c1").Status.Conditions); !b.config("c1").Installed() || strings.Contains(got, "Reprovision") || strings.Contains(got, "UserData") {
		t.Errorf("conditions %s", got)
	}
	b.apply(userDataSecret(ignite("eve")))
	b.pass()
	if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, "ReprovisionRequired") {
		t.Errorf("changed here: conditions %s", got)
	}
}
