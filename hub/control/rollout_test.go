package control

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// fleetSize is that of TestRolloutFleet: racks x servers of each.
var fleetSize = flag.String("fleet", "4x10", "racks x servers of TestRolloutFleet")

// A good image reaches all servers, wave by wave; a bad one is stopped at the canary and
// rolled back, and nobody has to do anything.
func TestRolloutOfASmallGroup(t *testing.T) {
	f := newFleet(t, 1, 1, 4, nil)
	f.until("all boot 1.0", f.all("1.0"))
	f.until("the first roll-out is complete", f.phase(resource.RolloutCompleted))
	f.most = 1
	f.apply(entryOf("2.0"))
	f.until("all boot 2.0", f.all("2.0"))
	f.until("it is complete", f.phase(resource.RolloutCompleted))
	if r := f.groupRevision(2); r.Status.Result != resource.RolloutCompleted || r.Status.EndedAt == nil || !r.Status.Verified || r.Status.Booted != 4 {
		t.Errorf("%+v", r.Status)
	}
	_, bad := resource.SplitImage(imageOf("30.0"))
	f.bad[bad] = true
	f.apply(entryOf("30.0"))
	f.until("it is rolled back", f.phase(resource.RolloutRolledBack))
	f.until("all boot 2.0 again", f.all("2.0"))
	for range 20 {
		f.step()
	}
	f.wantHistory("rolled back", "1:1.0/catalogue 2:2.0/catalogue 3:30.0/catalogue 4:2.0/auto-rollback @4")
	g := f.group()
	if g.Status.Pinned == nil || g.Status.Rejected["os-30-0"].Revision != 3 || g.Status.Verified != 4 {
		t.Errorf("%+v", g.Status)
	}
	if r := f.groupRevision(3); r.Status.Result != resource.RolloutRolledBack || r.Status.Failed > 1 || r.Status.Message == "" {
		t.Errorf("%+v", r.Status)
	}
	for _, b := range f.boxes {
		if b.attempts > 4 {
			t.Errorf("%s was booted %d times", b.name, b.attempts)
		}
	}
}

// A revision that servers of the group booted is its own proof, and has all that it needs: a return
// to it reaches everybody, also where its entry has left the catalogue meanwhile.
func TestRolloutReturnsWithoutItsEntry(t *testing.T) {
	f := newFleet(t, 1, 1, 4, nil)
	f.until("all boot 1.0", f.all("1.0"))
	f.until("the first roll-out is complete", f.phase(resource.RolloutCompleted))
	f.apply(entryOf("2.0"))
	f.until("all boot 2.0", f.all("2.0"))
	f.until("the second roll-out is complete", f.phase(resource.RolloutCompleted))
	if _, err := f.store.Delete(t.Context(), resource.KindBootImage, "os-1-0"); err != nil {
		t.Fatal(err)
	}
	f.acts(api.GroupRevert, api.GroupRequest{Revision: 1})
	f.until("all boot 1.0 again", f.all("1.0"))
	f.until("the return is complete", f.phase(resource.RolloutCompleted))
	if r := f.groupRevision(3); r.Spec.CopyOf != 1 || r.Spec.Version != "1.0" || !r.Status.Verified {
		t.Errorf("%+v, %+v", r.Spec, r.Status)
	}
}

// No server is rebooted into what its rack has not, however long that lasts, and it is said.
func TestRolloutWaitsForFiles(t *testing.T) {
	f := newFleet(t, 1, 1, 2, nil)
	f.until("all boot 1.0", f.all("1.0"))
	f.until("the first roll-out is complete", f.phase(resource.RolloutCompleted))
	f.unfetched = "the registry does not answer"
	f.apply(entryOf("2.0"))
	f.until("its canary waits for the files", func() bool {
		ro := f.group().Status.Rollout
		for _, m := range ro.Members {
			if ro.Revision == 2 && m.State == resource.MemberBegun && strings.HasSuffix(m.Reason, f.unfetched) {
				return true
			}
		}
		return false
	})
	before := f.group().Metadata.Revision
	for range 5 {
		f.step()
	}
	if now := f.group().Metadata.Revision; now != before {
		t.Errorf("the group was written while nothing was new: %d, %d", before, now)
	}
	if !f.all("1.0")() || len(f.store.Requests.List()) > 0 {
		t.Errorf("rebooted: %+v", f.store.Requests.List())
	}
	f.unfetched = ""
	f.until("all boot 2.0", f.all("2.0"))
	f.until("it is complete", f.phase(resource.RolloutCompleted))
}

// The fleet: racks go dark, servers join, the hub dies wherever it is, images are good and
// bad. It converges each time, and what must never be never is.
func TestRolloutFleet(t *testing.T) {
	var racks, each int
	if n, err := fmt.Sscanf(*fleetSize, "%dx%d", &racks, &each); n != 2 {
		t.Fatalf("-fleet=%s: %v", *fleetSize, err)
	}
	f := newFleet(t, 3, racks, each, func(g *resource.ServerGroup) { g.Spec.Rollout.Waves = []resource.Share{"10%", "50%"} })
	f.until("all boot 1.0", f.all("1.0"))
	f.kills = 0.5
	f.most = racks * each / 4
	f.apply(entryOf("2.0"))
	for range 12 {
		f.step()
	}
	lost := f.agents[1]
	f.dark[lost] = true
	f.most = 0 // it takes all of the room that there is
	f.add(0, each)
	for range 20 {
		f.step()
	}
	delete(f.dark, lost)
	f.greets(lost)
	f.until("all boot 2.0", f.all("2.0"))
	f.until("it is complete", f.phase(resource.RolloutCompleted))
	_, bad := resource.SplitImage(imageOf("30.0"))
	f.bad[bad] = true
	f.apply(entryOf("30.0"))
	f.until("it is rolled back", f.phase(resource.RolloutRolledBack))
	if r := f.groupRevision(3); r.Status.Failed > 1 {
		t.Errorf("more than the canary had it: %+v", r.Status)
	}
	f.until("all boot 2.0 again", f.all("2.0"))
	f.wantHistory("rolled back", "1:1.0/catalogue 2:2.0/catalogue 3:30.0/catalogue 4:2.0/auto-rollback @4")
	if f.killed == 0 {
		t.Error("the hub was never killed")
	}
}

// Turns that are taken in any order, and as often as it comes, end in the same state: each
// server boots the same, as often, by the same revision of the same group.
func TestTurnsInAnyOrder(t *testing.T) {
	var first []string
	for seed := range uint64(8) {
		f := newFleet(t, seed, 3, 3, func(g *resource.ServerGroup) { g.Spec.Rollout.Waves = []resource.Share{"34%", "67%"} })
		f.until("all boot 1.0", f.all("1.0"))
		f.until("the first is complete", f.phase(resource.RolloutCompleted))
		_, bad := resource.SplitImage(imageOf("20.0"))
		f.bad[bad] = true
		f.apply(entryOf("20.0"))
		f.until("it is rolled back", f.phase(resource.RolloutRolledBack))
		f.until("all boot 1.0 again", f.all("1.0"))
		if got := f.outcome(); first == nil {
			first = got
		} else if !slices.Equal(got, first) {
			t.Errorf("order %d ends otherwise:\n%s\nand the first in\n%s", seed, strings.Join(got, "\n"), strings.Join(first, "\n"))
		}
	}
}

// outcome is what there is in the end, without the times and the names that are given in turn.
func (f *fleet) outcome() (out []string) {
	for _, b := range f.boxes {
		cfg := f.configFor(b.claim)
		out = append(out, fmt.Sprintf("%s on %t, boots %.20s, by %s/%d, bound to %s, booted %d times",
			b.name, b.on, b.boots, cfg.Spec.Group, cfg.Spec.Revision, f.claim(b.claim).Status.Server, b.attempts))
	}
	g := f.group()
	out = append(out, fmt.Sprintf("%s at %d, verified %d, %s, pinned %t", g.Metadata.Name, g.Status.Revision, g.Status.Verified, g.Status.Rollout.Phase, g.Status.Pinned != nil))
	for _, name := range slices.Sorted(maps.Keys(g.Status.Rollout.Members)) {
		m := g.Status.Rollout.Members[name]
		out = append(out, fmt.Sprintf("%s: %s in wave %d", name, m.State, m.Wave))
	}
	return append(out, f.history())
}
