package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// movedGroups is a hub with a group whose revision 1 was proved, 2 was returned from to 3,
// and a roll-out that is under way.
func movedGroups(t *testing.T) *bench {
	t.Helper()
	b, _, agent := groupSite(t, optIn(resource.OptInAll), userDataSecret(ignite("first")), entryOf("1.0"), entryOf("0.5"), workers(withStub(false)))
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	b.apply(entryOf("2.0"))
	b.pass()
	b.acts(api.GroupRevert, api.GroupRequest{})
	b.wantHistory("before the move", "1:1.0/catalogue 2:2.0/catalogue 3:1.0/rollback @3")
	g, err := store.Get[*resource.ServerGroup](b.store.Objects, "workers")
	if err != nil {
		t.Fatal(err)
	}
	g.Status.Rollout = &resource.RolloutStatus{
		Revision: 3, From: 2, Strategy: resource.RolloutReboot, Phase: resource.RolloutPaused, Resumes: resource.RolloutWave, By: "ann",
		Members: map[string]resource.RolloutMember{"n1": {State: resource.MemberBegun}},
	}
	if err := b.store.Objects.Put(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	return b
}

// exported is what a file has of a hub: what is stored, read back without what is only
// shown there.
func exported(b *bench, without ...resource.Kind) (out []resource.Object) {
	drop := map[resource.Kind]bool{}
	for _, k := range append(without, resource.KindClaim, resource.KindBootConfiguration) {
		drop[k] = true
	}
	for _, k := range store.ImportKinds() {
		if !drop[k] {
			out = append(out, b.store.Objects.Copies(k)...)
		}
	}
	return out
}

func anotherHub(t *testing.T, version string) *bench {
	t.Helper()
	b := newBench(t, &digestRegistry{bare: map[string]bool{}, gone: map[string]bool{}})
	b.feature, b.version, b.kek = true, version, strings.Repeat("5e", 32)
	b.now = b.now.Add(time.Hour)
	b.restart()
	return b
}

// A hub that is restored from an export gives a new claim the image, with its user data,
// that the group had: the history, the pin and what is rejected are those of before. A
// stamp counts for the same version of the hub; for another one what is verified is booted.
func TestImportGroups(t *testing.T) {
	from := movedGroups(t)
	want := from.groupRevision(3).Spec.Images["amd64"].Digest
	for _, version := range []string{"1.0", "1.1"} {
		t.Run("hub "+version, func(t *testing.T) {
			b := anotherHub(t, version)
			b.apply(userDataSecret(ignite("first"))) // which no export has
			objs := exported(from)
			out, err := b.control.Owners.Imports.Import(t.Context(), objs, api.ImportRequest{Reason: "move"}, "admin")
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, r := range out.Results {
				if r.Outcome != api.ImportCreated {
					t.Errorf("%+v", r)
				}
				if r.Kind == resource.KindServerGroup {
					said = r.Message
				}
			}
			if !strings.Contains(said, "Aborted") {
				t.Errorf("nothing says what became of the roll-out: %q", said)
			}
			agent := b.join("r1")
			b.greets(agent)
			b.pass()
			b.wantHistory("after the move", "1:1.0/catalogue 2:2.0/catalogue 3:1.0/rollback @3")
			g := b.group()
			ro := g.Status.Rollout
			if g.Status.Pinned == nil || g.Status.Pinned.By != "ann" || g.Status.Rejected["os-2-0"].Revision != 2 || g.Status.Verified != 3 || g.Status.HotLoop == nil {
				t.Errorf("%+v", g.Status)
			}
			if ro == nil || ro.Phase != resource.RolloutAborted || len(ro.Members) != 0 || ro.EndedAt == nil || ro.Reason == "" {
				t.Errorf("the roll-out: %+v", ro)
			}
			entry, _ := store.Peek[*resource.BootImage](b.store.Objects, "os-1-0")
			if entry.Status.Stamp == nil || entry.Status.Stamp.HubVersion != "1.0" || len(entry.Status.Verified) != 0 {
				t.Errorf("the entry: %+v", entry.Status)
			}
			b.apply(fromWorkers("c2", "n2"))
			b.pass()
			cfg := b.configOf("c2")
			if cfg == nil || cfg.Spec.Image.Digest != want || cfg.Spec.Revision != 3 || cfg.Spec.Ignition == nil {
				t.Fatalf("%+v; the claim has %s", cfg, codes(b.claim("c2").Status.Conditions))
			}
			if content, err := b.control.Env.OpenIgnition(*cfg.Spec.Ignition); err != nil || string(content) != ignite("first") {
				t.Errorf("the user data: %s, %v", content, err)
			}
			again, err := b.control.Owners.Imports.Import(t.Context(), exported(from), api.ImportRequest{Reason: "move"}, "admin")
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range again.Results {
				if r.Outcome != api.ImportUnchanged {
					t.Errorf("again: %+v", r)
				}
			}
		})
	}
}

// A translated stub is made again from what it was made from: the group gets a revision of
// it, and the same image. Of older user data there is none: a return says so.
func TestImportManagedStub(t *testing.T) {
	from, _, agent := groupSite(t, optIn(resource.OptInAll), userDataSecret(spec2("old")), entryOf("1.0"), workers(withStub(true)))
	from.apply(fromWorkers("c1", "n1"))
	from.pass()
	from.proves(agent, "c1")
	from.soaks()
	from.apply(userDataSecret(spec2("ann")))
	from.pass()
	from.wantHistory("before the move", "1:1.0/catalogue 2:1.0/stub @2")
	b := anotherHub(t, "1.0")
	b.apply(userDataSecret(spec2("ann")))
	if _, err := b.control.Owners.Imports.Import(t.Context(), exported(from), api.ImportRequest{Reason: "move"}, "admin"); err != nil {
		t.Fatal(err)
	}
	b.greets(b.join("r1"))
	b.pass()
	b.wantHistory("after the move", "1:1.0/catalogue 2:1.0/stub 3:1.0/stub @3")
	b.apply(fromWorkers("c2", "n2"))
	b.pass()
	cfg := b.configOf("c2")
	if cfg == nil || cfg.Spec.Image.Digest != from.groupRevision(2).Spec.Images["amd64"].Digest || cfg.Spec.Ignition.Secret != "node-spec-3-managed" {
		t.Fatalf("%+v; the claim has %s", cfg, codes(b.claim("c2").Status.Conditions))
	}
	if _, err := b.act(api.GroupRevert, api.GroupRequest{Revision: 1}); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "user data") {
		t.Errorf("a return to user data that did not come: %v", err)
	}
}

// What is no history of a group that comes is refused, and nothing of it is written.
func TestImportRevisionsRefused(t *testing.T) {
	from := movedGroups(t)
	for name, c := range map[string]struct {
		without []resource.Kind
		change  func(resource.Object)
		want    string
	}{
		"no group":                 {[]resource.Kind{resource.KindServerGroup}, nil, "neither here nor imported"},
		"of another group's uid":   {nil, func(o resource.Object) { forRevision(o, func(r *resource.GroupRevision) { r.Spec.GroupUID = "other" }) }, "neither here nor imported"},
		"under another's name":     {nil, func(o resource.Object) { forRevision(o, func(r *resource.GroupRevision) { r.Spec.Number += 7 }) }, "is not that of revision"},
		"verified beyond the last": {nil, func(o resource.Object) { forGroup(o, func(g *resource.ServerGroup) { g.Status.Verified = 9 }) }, "no numbers of revisions"},
	} {
		t.Run(name, func(t *testing.T) {
			b := anotherHub(t, "1.0")
			b.apply(userDataSecret(ignite("first")))
			objs := exported(from, c.without...)
			for _, o := range objs {
				if c.change != nil {
					c.change(o)
				}
			}
			out, err := b.control.Owners.Imports.Import(t.Context(), objs, api.ImportRequest{Reason: "move"}, "admin")
			if err != nil {
				t.Fatal(err)
			}
			refused := 0
			for _, r := range out.Results {
				if r.Outcome == api.ImportRefused && strings.Contains(r.Message, c.want) {
					refused++
				}
			}
			if refused == 0 || len(store.List[*resource.GroupRevision](b.store.Objects)) != 0 {
				t.Errorf("%d refused: %+v", refused, out.Results)
			}
		})
	}
}

func forRevision(o resource.Object, change func(*resource.GroupRevision)) {
	if r, ok := o.(*resource.GroupRevision); ok {
		change(r)
	}
}

func forGroup(o resource.Object, change func(*resource.ServerGroup)) {
	if g, ok := o.(*resource.ServerGroup); ok {
		change(g)
	}
}

// An entry of the catalogue and its conditions are no word of the other hub: files are
// fetched and verified here.
func TestImportBootImageFiles(t *testing.T) {
	e := bootImageOf("os-1")
	e.Metadata.UID, e.Metadata.Generation = "01J0000000000000000000000A", 1
	now := time.Unix(1, 0).UTC()
	e.Metadata.CreatedAt = &now
	digest := "sha256:" + strings.Repeat("a", 64)
	e.Status.Verified = map[string]resource.BootImageVerified{digest: {Digest: "sha256:" + strings.Repeat("f", 64), Size: 1}}
	files := &mirrorOf{fails: map[string]error{}, bad: map[string]error{}, has: map[string]bool{}}
	b := newBench(t, &movingTag{})
	b.catalogue = files
	b.restart()
	b.apply(storetest.Site()...)
	if _, err := b.control.Owners.Imports.Import(t.Context(), []resource.Object{e}, api.ImportRequest{Reason: "move"}, "admin"); err != nil {
		t.Fatal(err)
	}
	m := b.modern(b.join("r1"))
	m.connects()
	b.settles(m)
	b.settles(m)
	if got := b.entry().Status.Verified[digest].Digest; got != digest || len(files.fetched) != 2 {
		t.Errorf("%s was taken over; fetched %v", got, files.fetched)
	}
}
