package control

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// How secrets go, and what evidence counts, is what is so now: who changes it has the rack's turn
// taken at once, and its agent is told with the configuration and the grant that it has.
func TestChoicesReachTheAgent(t *testing.T) {
	b, m, _ := dataSite(t, ignite("ann"))
	server, err := store.Get[*resource.Server](b.store.Objects, "n1")
	if err != nil {
		t.Fatal(err)
	}
	server.Metadata.Labels, server.Metadata.Revision, server.Status = map[string]string{"row": "7"}, 0, resource.ServerStatus{}
	b.apply(server)
	b.settles(m)
	group := func(way resource.SecretsWay, class resource.EvidenceClass) *resource.ServerGroup {
		g := &resource.ServerGroup{Spec: resource.ServerGroupSpec{
			Selector: resource.Selector{MatchLabels: map[string]string{"row": "7"}}, Catalogue: "os",
			Secrets: way, RequireEvidence: class,
		}}
		g.Metadata.Name = "workers"
		return g
	}
	was, begun := b.config("c1"), b.boot(m)
	if begun == nil || begun.Secrets != "" || begun.RequireEvidence != "" || len(begun.Grant) == 0 {
		t.Fatalf("before anybody chose: %+v", begun)
	}
	for _, step := range []struct {
		name   string
		change func()
		way    resource.SecretsWay
		class  resource.EvidenceClass
	}{
		{"the rack", func() {
			r := b.rackOf("r1")
			r.Spec.Secrets, r.Spec.RequireEvidence = resource.SecretsSegment, resource.EvidenceObserved
			r.Metadata.Revision, r.Status = 0, resource.RackStatus{}
			b.apply(r)
		}, resource.SecretsSegment, resource.EvidenceObserved},
		{"a group", func() { b.apply(group(resource.SecretsBMC, resource.EvidenceReported)) }, resource.SecretsBMC, resource.EvidenceReported},
		{"another choice of the group", func() { b.apply(group(resource.SecretsBMC, "")) }, resource.SecretsBMC, resource.EvidenceObserved},
		{"the claim", func() {
			c := claimWithData("c1", "n1")
			c.Spec.Secrets, c.Spec.RequireEvidence = resource.SecretsSegment, resource.EvidenceReported
			b.apply(c)
		}, resource.SecretsSegment, resource.EvidenceReported},
		{"no choice of the claim", func() { b.apply(claimWithData("c1", "n1")) }, resource.SecretsBMC, resource.EvidenceObserved},
		{"no group", func() {
			if _, err := b.store.Delete(ctx(t), resource.KindServerGroup, "workers"); err != nil {
				t.Fatal(err)
			}
		}, resource.SecretsSegment, resource.EvidenceObserved},
	} {
		b.control.wake.By(b.deltas)
		b.control.sleep()
		step.change()
		b.control.wake.By(b.deltas)
		if woken := b.control.wake.Racks.Take(); !slices.Contains(woken, wake.RackUnit("r1")) {
			t.Errorf("%s: %v were woken", step.name, woken)
		}
		b.settles(m)
		boot, is := b.boot(m), b.config("c1")
		if boot == nil || boot.Secrets != step.way || boot.RequireEvidence != step.class {
			t.Fatalf("%s: the agent is told %+v, want %q and %q", step.name, boot, step.way, step.class)
		}
		if is.Metadata.UID != was.Metadata.UID || is.Metadata.Generation != was.Metadata.Generation || !bytes.Equal(boot.Grant, begun.Grant) {
			t.Errorf("%s: another configuration or grant", step.name)
		}
		if got := codes(b.claim("c1").Status.Conditions); strings.Contains(got, string(resource.CondReprovisionRequired)) {
			t.Errorf("%s: %s", step.name, got)
		}
	}
}
