package top

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/heads"
)

// phases are the servers of a snapshot with their phases.
func phases(s snapshot) string {
	var out []string
	for _, o := range s.servers {
		out = append(out, o.Metadata.Name+" "+string(o.Status.Phase))
	}
	return strings.Join(out, ", ")
}

// Between two reads of everything only what events name is read.
func TestFeedFollowsEvents(t *testing.T) {
	hub := site(t)
	hub.Fleet.AddEvent("n1", resource.ConditionCode(resource.EventFetched), "before")
	link, _ := linkTo(t, hub, hub.URL, apitest.Token)
	clock := time.Now()
	f := &feed{link: link, chosen: selecting(t, ""), clock: func() time.Time { return clock }}
	next := func(want string, changes bool) {
		t.Helper()
		s, changed, err := f.next(t.Context())
		if err != nil || phases(s) != want || changed != changes {
			t.Fatalf("%q, changed %t, %v; want %q", phases(s), changed, err, want)
		}
	}
	happens := func(server string) { hub.Fleet.AddEvent(server, resource.ConditionCode(resource.EventArmed), "") }
	next("n1 Reserved, n2 Reserved", true)
	next("n1 Reserved, n2 Reserved", false)
	runs(hub, "n1", resource.PhaseError)
	runs(hub, "n2", resource.PhaseError)
	next("n1 Reserved, n2 Reserved", false) // and no event says so
	happens("n2")
	next("n1 Reserved, n2 Error", true)
	next("n1 Reserved, n2 Error", false)
	happens("") // of no server
	next("n1 Error, n2 Error", true)
	// A hold is seen with the event of its server.
	if _, err := hub.Store.Holds.Create(t.Context(), hold("h1", "n1", "")); err != nil {
		t.Fatal(err)
	}
	happens("n1")
	next("n1 Error, n2 Error", true)
	if n := len(f.shot.holds); n != 1 {
		t.Errorf("%d holds", n)
	}
	// One that is new, and one that is gone.
	if _, err := hub.Client(t).Objects.Apply(t.Context(), []resource.Object{storetest.BMC("b3", "r1"), storetest.Server("n3", "b3", "boot", "52:54:00:00:00:03")}, false); err != nil {
		t.Fatal(err)
	}
	runs(hub, "n3", resource.PhaseAvailable)
	happens("n3")
	next("n1 Error, n2 Error, n3 Available", true)
	if _, err := hub.Client(t).Objects.Delete(t.Context(), resource.KindServer, "n3"); err != nil {
		t.Fatal(err)
	}
	happens("n3")
	next("n1 Error, n2 Error", true)
	// Of too many everything is read, which shows n1 too.
	runs(hub, "n1", resource.PhaseReserved)
	for i := range maxNamed + 1 {
		happens(fmt.Sprintf("other-%d", i))
	}
	next("n1 Reserved, n2 Error", true)
	// After the pause as well.
	runs(hub, "n1", resource.PhaseAvailable)
	clock = clock.Add(longestPause)
	next("n1 Available, n2 Error", true)
}

// What is selected is all that is shown, also of what events name.
func TestFeedSelects(t *testing.T) {
	hub := site(t)
	label := storetest.Server("n2", "b2", "boot", "52:54:00:00:00:02")
	label.Metadata.Labels = map[string]string{"row": "7"}
	if _, err := hub.Client(t).Objects.Apply(t.Context(), []resource.Object{label, storetest.Rack("empty")}, false); err != nil {
		t.Fatal(err)
	}
	link, _ := linkTo(t, hub, hub.URL, apitest.Token)
	for _, row := range []struct{ labels, rack, servers, racks string }{
		{"", "", "n1 Reserved, n2 Reserved", "empty r1"},
		{"row=7", "", "n2 Reserved", "r1"},
		{"row!=7", "", "n1 Reserved", "r1"},
		{"", "r1", "n1 Reserved, n2 Reserved", "r1"},
		{"", "empty", "", "empty"},
		{"row=8", "", "", ""},
	} {
		f := &feed{link: link, chosen: selecting(t, row.labels), rack: row.rack, clock: func() time.Time { return noon() }}
		for range 2 {
			s, _, err := f.next(t.Context())
			var racks []string
			for _, r := range s.racks {
				racks = append(racks, r.Metadata.Name)
			}
			if err != nil || phases(s) != row.servers || strings.Join(racks, " ") != row.racks {
				t.Errorf("-l %q --rack %q: %q of %q, %v", row.labels, row.rack, phases(s), racks, err)
			}
			hub.Fleet.AddEvent("n1", resource.ConditionCode(resource.EventArmed), "")
		}
	}
	f := &feed{link: link, chosen: selecting(t, ""), rack: "r99", clock: time.Now}
	if _, _, err := f.next(t.Context()); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
}

// A hub that has lost something says so, and what is left is shown.
func TestFeedOfAnIncompleteHub(t *testing.T) {
	hub := site(t)
	hub.Store.Lose(&heads.Loss{Items: []heads.Item{{Kind: "res.servers", Name: "n9", How: heads.Missing}}})
	link, _ := linkTo(t, hub, hub.URL, apitest.Token)
	f := &feed{link: link, chosen: selecting(t, ""), clock: time.Now}
	s, _, err := f.next(t.Context())
	if err != nil || s.lacks == "" || phases(s) != "n1 Reserved, n2 Reserved" {
		t.Errorf("%q, %q, %v", s.lacks, phases(s), err)
	}
}

// A hub is asked to read everything a fifth of its time at most, and no less often than agents report.
func TestPauseAfter(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: time.Second, 20 * time.Millisecond: time.Second, 250 * time.Millisecond: time.Second, time.Second: 4 * time.Second, 3 * time.Second: 12 * time.Second, time.Minute: 15 * time.Second,
	} {
		if got := pauseAfter(took); got != want {
			t.Errorf("%s after %s, want %s", got, took, want)
		}
	}
	if longestPause > resource.ReportEvery {
		t.Errorf("everything is read each %s, and agents report each %s", longestPause, resource.ReportEvery)
	}
}

// What it takes to read a fleet of 6,000 servers, hub and rackctl in one process.
func BenchmarkFeed(b *testing.B) {
	hub := apitest.New(b)
	s := many(6000)
	for _, o := range s.racks {
		put(b, hub, o)
		put(b, hub, storetest.Segment("seg-"+o.Metadata.Name, o.Metadata.Name))
	}
	for i, o := range s.servers {
		o.Spec.BMCRef.Name = "b-" + o.Metadata.Name
		o.Spec.BootMAC = fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&0xff)
		put(b, hub, storetest.BMC(o.Spec.BMCRef.Name, s.places.Of(o)))
		hub.Fleet.SetServer(o.Metadata.Name, o.Status)
		o.Status = resource.ServerStatus{}
		put(b, hub, o)
	}
	link, _ := linkTo(b, hub, hub.URL, apitest.Token)
	f := &feed{link: link, chosen: selecting(b, ""), clock: time.Now}
	for b.Loop() {
		f.due = time.Time{}
		if s, _, err := f.next(b.Context()); err != nil || len(s.servers) != 6000 {
			b.Fatalf("%d servers, %v", len(s.servers), err)
		}
	}
	b.ReportMetric(float64(f.due.Sub(f.shot.at).Milliseconds()), "ms-pause")
}

func put(b *testing.B, hub *apitest.Hub, o resource.Object) {
	b.Helper()
	if err := hub.Store.Objects.Put(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}
