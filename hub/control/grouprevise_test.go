package control

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/grants"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (b *bench) act(action api.GroupAction, r api.GroupRequest) (api.GroupAnswer, error) {
	r.Reason = "because"
	return b.control.Groups.ActOnGroup(b.t.Context(), "workers", action, r, "ann")
}

func (b *bench) acts(action api.GroupAction, r api.GroupRequest) api.GroupAnswer {
	b.t.Helper()
	out, err := b.act(action, r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.pass()
	return out
}

// ticks lets time go by until what the hub has planned is due, and does that.
func (b *bench) ticks() {
	b.t.Helper()
	at := b.control.Groups.DueAt()
	if at.IsZero() {
		b.t.Fatal("nothing is planned")
	}
	b.now = at
	b.control.sleep()
	b.control.tick()
	if b.control.wake.Racks.Waiting() == 0 {
		b.t.Fatal("no turn was asked for when it was due")
	}
	b.pass()
}

// Rows 12, 16 and 17: everything is checked before anything is changed, every cause is
// said, and it heals without an event; another group goes on.
func TestGroupPreflight(t *testing.T) {
	b, reg, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	other := workers(func(g *resource.ServerGroup) {
		g.Metadata.Name, g.Spec.Selector.MatchLabels = "others", map[string]string{"row": "8"}
		g.Spec.Architectures, g.Spec.BootPolicy.FirstBoot = []string{"amd64"}, resource.FirstBootVirtualMedia
	})
	bare := entryOf("2.0")
	reg.bare[imageOf("2.0")] = true // an ISO alone: VirtualMedia boots it, and UefiHttp does not
	arm := storetest.Server("n4", "b4", "boot", "52:54:00:00:00:04")
	arm.Metadata.Labels, arm.Spec.Architecture = map[string]string{"row": "7"}, "arm64"
	b.apply(storetest.BMC("b4", "r1"), arm, bare, other)
	b.pass()
	b.wantHistory("it fails", "1:1.0/catalogue @1")
	g := b.group()
	if text := g.Status.Conditions[0].Message; !strings.Contains(text, "no image for arm64") || !strings.Contains(text, "amd64:") {
		t.Errorf("%+v", g.Status.Conditions)
	}
	since := g.Status.Conditions[0].Since
	if o, err := store.Peek[*resource.ServerGroup](b.store.Objects, "others"); err != nil || o.Status.Revision != 1 {
		t.Errorf("the other group waits: %+v, %v", o, err)
	}
	// Row 18: the time is that of the flip, whatever else is said of it meanwhile.
	b.now = b.now.Add(time.Minute)
	b.pass()
	if got := b.group().Status.Conditions[0].Since; !got.Equal(since) {
		t.Errorf("since %v, and then %v", since, got)
	}
	// Row 16: deletion of what failed clears it.
	if _, err := b.store.Delete(ctx(t), resource.KindServer, "n4"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Delete(ctx(t), resource.KindBootImage, "os-2-0"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	b.wantConds("deleted")
	reg.down = true
	b.apply(entryOf("3.0"))
	b.pass()
	b.wantConds("the registry is down", resource.CondImagesDegraded, resource.CondImageUnverified)
	b.wantHistory("the registry is down", "1:1.0/catalogue @1")
	reg.down = false
	for range 6 {
		if b.group().Status.Revision == 2 {
			break
		}
		b.ticks()
	}
	b.wantHistory("healed", "1:1.0/catalogue 2:3.0/catalogue @2")
}

// Row 21: a return is a new revision of image and user data as one pair, which pins the
// group and rejects what was bad; unpinned, the catalogue goes on with what is not.
func TestGroupRevert(t *testing.T) {
	secret := userDataSecret(ignite("first"))
	b, reg, agent := groupSite(t, optIn(resource.OptInAll), secret, entryOf("1.0"), workers(func(g *resource.ServerGroup) {
		g.Spec.Stub = &resource.StubSpec{SecretRef: resource.Ref{Name: "node"}}
	}))
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	if cfg := b.configOf("c1"); cfg.Spec.Ignition == nil || cfg.Spec.Ignition.Version != 1 {
		t.Fatalf("the group's user data: %+v", cfg.Spec.Ignition)
	}
	b.apply(entryOf("2.0"), userDataSecret(ignite("second")))
	b.pass()
	b.wantHistory("newer", "1:1.0/catalogue 2:2.0/catalogue @2")
	dry := b.acts(api.GroupRevert, api.GroupRequest{DryRun: true})
	if dry.Revision != 3 || dry.CopyOf != 1 || len(dry.Changes) == 0 || b.group().Status.Revision != 2 {
		t.Errorf("%+v", dry)
	}
	reg.gone[imageOf("1.0")] = true
	if _, err := b.act(api.GroupRevert, api.GroupRequest{Revision: 1}); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("an image that is gone: %v", err)
	}
	reg.gone, reg.down = nil, true // which stops no return: agents may have it
	b.acts(api.GroupRevert, api.GroupRequest{Revision: 1})
	reg.down = false
	b.wantHistory("returned", "1:1.0/catalogue 2:2.0/catalogue 3:1.0/rollback @3")
	g := b.group()
	if g.Status.Pinned == nil || g.Status.Pinned.Revision != 3 || g.Status.Rejected["os-2-0"].By != "ann" || g.Status.Verified != 3 {
		t.Errorf("%+v", g.Status)
	}
	b.apply(fromWorkers("c2", "n2"))
	b.pass()
	if cfg := b.configOf("c2"); cfg == nil || cfg.Spec.Revision != 3 || cfg.Spec.Ignition.Version != 1 {
		t.Fatalf("the user data of then goes with the image of then: %+v", cfg)
	}
	b.apply(entryOf("3.0"))
	b.pass()
	b.wantHistory("pinned", "1:1.0/catalogue 2:2.0/catalogue 3:1.0/rollback @3")
	b.wantConds("pinned", resource.CondImagesDeferred)
	if _, err := b.store.Delete(ctx(t), resource.KindBootImage, "os-3-0"); err != nil {
		t.Fatal(err)
	}
	b.acts(api.GroupUnpin, api.GroupRequest{})
	if got := b.groupRevision(b.group().Status.Revision).Spec.Version; got != "1.0" {
		t.Errorf("what is rejected was taken again: version %s", got)
	}
	b.acts(api.GroupUnpin, api.GroupRequest{Forgive: true})
	if got := b.groupRevision(b.group().Status.Revision).Spec.Version; got != "2.0" {
		t.Errorf("forgiven: version %s", got)
	}
	d, err := b.control.Groups.DiffGroup("workers", 1, 2)
	if err != nil || len(d.Changes) == 0 || d.Changes[0].Field != "bootImage" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := b.control.Groups.DiffGroup("workers", 1, 99); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Error(err)
	}
	if _, err := b.act(api.GroupPin, api.GroupRequest{Revision: 1}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Error(err)
	}
}

// A word that changes nothing is answered so, and writes nothing; of one revision there is no difference.
func TestGroupNothingToDo(t *testing.T) {
	b, _, _ := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
	if _, err := b.control.Groups.DiffGroup("workers", 0, 0); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "is its first") {
		t.Errorf("of one revision: %v", err)
	}
	for _, step := range []struct {
		action    api.GroupAction
		request   api.GroupRequest
		unchanged bool
	}{
		{api.GroupUnpin, api.GroupRequest{}, true},
		{api.GroupUnpin, api.GroupRequest{Forgive: true}, true},
		{api.GroupAck, api.GroupRequest{}, true},
		{api.GroupPin, api.GroupRequest{}, false},
		{api.GroupPin, api.GroupRequest{}, true},
		{api.GroupUnpin, api.GroupRequest{}, false},
		{api.GroupUnpin, api.GroupRequest{}, true},
	} {
		before := b.store.Changes("")
		out, err := b.act(step.action, step.request)
		if err != nil || out.Unchanged != step.unchanged || (b.store.Changes("") == before) != step.unchanged {
			t.Errorf("%s: %+v, %v", step.action, out, err)
		}
	}
}

// A return without a number takes nothing that the group rejects, and says what it passed over; where nothing
// is left it says which revisions those are.
func TestGroupRevertSkipsRejected(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
	for i, version := range []string{"1.0", "2.0", "3.0"} {
		claim := fmt.Sprintf("c%d", i+1)
		b.apply(entryOf(version), fromWorkers(claim, fmt.Sprintf("n%d", i+1)))
		b.pass()
		b.proves(agent, claim)
		b.soaks()
	}
	b.wantHistory("three", "1:1.0/catalogue 2:2.0/catalogue 3:3.0/catalogue @3")
	if out := b.acts(api.GroupRevert, api.GroupRequest{}); out.CopyOf != 2 || len(out.Skipped) > 0 {
		t.Errorf("the one before: %+v", out)
	}
	if out := b.acts(api.GroupRevert, api.GroupRequest{}); out.CopyOf != 1 || !slices.Equal(out.Skipped, []int{3}) {
		t.Errorf("the one that is rejected: %+v", out)
	}
	if g := b.group(); len(g.Status.Rejected) != 2 || g.Status.Revision != 5 {
		t.Errorf("%+v", g.Status)
	}
	_, err := b.act(api.GroupRevert, api.GroupRequest{})
	if hint := protocol.HintOf(err); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "revisions 2, 3, 4") || !strings.Contains(hint, "revert workers 4") {
		t.Errorf("nothing is left: %v, %s", err, hint)
	}
}

// Row 19: somebody who puts an image of their own in the place of the catalogue's each
// time stops this group, and is named; also over a restart, until it is acknowledged.
func TestGroupHotLoop(t *testing.T) {
	b, _, _ := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
	fight := func(with string) {
		b.apply(workers(func(g *resource.ServerGroup) { g.Spec.Image = imageOf(with) }))
		b.trail.entries = append(b.trail.entries, protocol.AuditEntry{Op: "apply", Caller: "argocd", Target: "ServerGroup/workers", Outcome: protocol.AuditAccepted})
		b.pass()
		b.acts(api.GroupAdopt, api.GroupRequest{})
		b.apply(workers())
		b.pass()
	}
	fight("9.a")
	fight("9.ab")
	b.wantConds("twice more", resource.CondWaitingForStamp)
	fight("9.abc")
	if h := b.group().Status.HotLoop; h == nil || !h.Held || h.Count != 3 || h.Writer != "argocd" {
		t.Fatalf("%+v", h)
	}
	b.restart()
	b.pass()
	if got := codes(b.group().Status.Conditions); !strings.Contains(got, "GroupHotLoop") || !strings.Contains(got, "Degraded") {
		t.Errorf("after a restart: %s", got)
	}
	at := b.group().Status.Revision
	b.acts(api.GroupAck, api.GroupRequest{})
	if g := b.group(); g.Status.Revision != at+1 || g.Status.HotLoop.Held || g.Status.HotLoop.Count != 1 {
		t.Errorf("acknowledged: %+v", g.Status)
	}
	if got := b.trail.of("ServerGroup/workers"); len(got) == 0 {
		t.Error("nothing is in the audit log")
	}
}

// Rows 5 and 6: another version of the hub, and an altered entry, lose the stamp; what
// servers run stays.
func TestGroupHubVersion(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	b.version, b.now = "1.1", b.now.Add(time.Hour)
	b.restart()
	b.pass()
	b.wantConds("what is verified needs no stamp")
	b.apply(fromWorkers("c2", "n2"), entryOf("2.0"))
	b.pass()
	if got := b.boots(); got != "c1:1 c2:2" {
		t.Errorf("the canary of the new one: %q", got)
	}
	b.apply(fromWorkers("c3", "n3"))
	b.pass()
	if got := b.boots(); got != "c1:1 c2:2 c3:1" {
		t.Errorf("the others boot what is verified: %q", got)
	}
	old, _ := store.Peek[*resource.BootImage](b.store.Objects, "os-1-0")
	if old.Status.Stamp.HubVersion != "1.0" {
		t.Errorf("a boot under the hub of before counts for this one: %+v", old.Status.Stamp)
	}
	b.proves(agent, "c2")
	b.soaks()
	if e, _ := store.Peek[*resource.BootImage](b.store.Objects, "os-2-0"); e.Status.Stamp == nil || e.Status.Stamp.HubVersion != "1.1" {
		t.Errorf("%+v", e.Status.Stamp)
	}
}

// Row 21: what is beyond the limit goes, but for what is used and what was verified; a
// group that is made again begins anew.
func TestGroupPruned(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers(func(g *resource.ServerGroup) { g.Spec.HistoryLimit = 2 }))
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	for _, v := range []string{"2.0", "30.0", "400.0"} {
		b.apply(entryOf(v))
		b.pass()
	}
	b.wantHistory("pruned", "1:1.0/catalogue 3:30.0/catalogue 4:400.0/catalogue @4")
	b.apply(storetest.Claim("c9", "n3"))
	other := workers(func(g *resource.ServerGroup) {
		g.Metadata.Name = "spare"
		g.Spec.Selector.MatchLabels = map[string]string{"row": "8"}
	})
	b.apply(other)
	if _, err := b.store.Delete(ctx(t), resource.KindServerGroup, "workers"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a group that a claim names: %v", err)
	}
}

// A discovery and a maintenance boot a group's image, and are never its canaries.
func TestGroupOfOthers(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n2"}, Reason: "BIOS", ServerPower: resource.WantOn,
		Boot: resource.MaintenanceBoot{ImageFrom: &resource.ImageFrom{Group: "workers"}, BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP}},
	}}
	m.Metadata.Name = "m1"
	m.Default()
	b.apply(m, fromWorkers("c1", "n1"))
	b.pass()
	if got, _ := store.Peek[*resource.Maintenance](b.store.Objects, "m1"); got.Status.State != resource.MaintenanceQueued || !strings.Contains(got.Status.Message, "WaitingForStamp") {
		t.Errorf("%+v", got.Status)
	}
	b.proves(agent, "c1")
	b.soaks()
	modern := b.modern(agent)
	modern.connects()
	b.settles(modern)
	got, _ := store.Peek[*resource.Maintenance](b.store.Objects, "m1")
	cfg, err := store.Peek[*resource.BootConfiguration](b.store.Objects, grants.MaintenanceName(got.Metadata.UID))
	if err != nil || cfg.Spec.Group != "workers" || cfg.Spec.Revision != 1 {
		t.Errorf("%+v, %+v, %v", got.Status, cfg, err)
	}
}
