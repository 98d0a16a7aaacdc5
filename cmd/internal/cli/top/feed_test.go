package top

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
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

// feedOf is a feed of a hub that ends with the test.
func feedOf(t testing.TB, hub *apitest.Hub, labels, rack string) *feed {
	t.Helper()
	link, _ := linkTo(t, hub, hub.URL, apitest.Token)
	f := &feed{link: link, chosen: selecting(t, labels), rack: rack, clock: time.Now}
	t.Cleanup(f.close)
	return f
}

// await asks a feed until it has what is wanted.
func await(t *testing.T, f *feed, want string, is func(snapshot) bool) snapshot {
	t.Helper()
	late := time.After(time.Minute)
	for {
		s, changed, err := f.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if changed && is(s) {
			return s
		}
		select {
		case <-late:
			t.Fatalf("never %s: %q, %d holds", want, phases(s), len(s.holds))
		case <-f.watches.news:
		}
	}
}

// What changes is told, whatever it is, and nothing that has not changed.
func TestFeedFollows(t *testing.T) {
	hub := site(t)
	f := feedOf(t, hub, "", "")
	s, err := f.first(t.Context())
	if err != nil || phases(s) != "n1 Reserved, n2 Reserved" || s.caller != "admin" || s.places.Of(s.servers[0]) != "r1" {
		t.Fatalf("%+v, %v", s, err)
	}
	servers := func(want string) {
		t.Helper()
		await(t, f, want, func(s snapshot) bool { return phases(s) == want })
	}
	runs(hub, "n2", resource.PhaseError)
	servers("n1 Reserved, n2 Error")
	if _, err := hub.Store.Holds.Create(t.Context(), hold("h1", "n1", "")); err != nil {
		t.Fatal(err)
	}
	s = await(t, f, "a hold", func(s snapshot) bool { return len(s.holds) == 1 })
	if h := s.holds[0]; h.Spec.Server != "n1" || h.Spec.Key != "" {
		t.Errorf("%+v: its server is wanted, and its key is not", h.Spec)
	}
	// One that is new, and one that is gone.
	if _, err := hub.Client(t).Objects.Apply(t.Context(), []resource.Object{storetest.BMC("b3", "r1"), storetest.Server("n3", "b3", "boot", "52:54:00:00:00:03")}, false); err != nil {
		t.Fatal(err)
	}
	servers("n1 Reserved, n2 Error, n3 ")
	if _, err := hub.Client(t).Objects.Delete(t.Context(), resource.KindServer, "n3"); err != nil {
		t.Fatal(err)
	}
	servers("n1 Reserved, n2 Error")
	if s, changed, err := f.next(t.Context()); changed || err != nil || len(s.servers) != 0 {
		t.Errorf("nothing is new: %+v, %v", s, err)
	}
}

// A snapshot is not changed by what is told later.
func TestFeedHearsAgents(t *testing.T) {
	w := newWatches()
	early, late := noon(), noon().Add(time.Minute)
	of := func(at time.Time) *resource.Agent {
		a := &resource.Agent{}
		a.Metadata.Name, a.Status.LastReport = "a1", &at
		return a
	}
	w.take(resource.KindAgent, api.Change{Type: api.ChangePut, Name: "a1", Object: of(early)}, nil)
	w.changed = false
	was := w.there[resource.KindAgent]["a1"].obj.(*resource.Agent)
	w.heard([]resource.Object{of(early)})
	if w.changed {
		t.Error("it was heard when it was heard, and that is news")
	}
	other := of(late)
	other.Metadata.Name = "a2"
	w.heard([]resource.Object{of(late), other})
	now := w.there[resource.KindAgent]["a1"].obj.(*resource.Agent)
	if !w.changed || !now.Status.LastReport.Equal(late) || !was.Status.LastReport.Equal(early) || len(w.there[resource.KindAgent]) != 1 {
		t.Errorf("changed %t, %s after %s, %d agents", w.changed, now.Status.LastReport, was.Status.LastReport, len(w.there[resource.KindAgent]))
	}
}

// What is selected is all that is shown.
func TestFeedSelects(t *testing.T) {
	hub := site(t)
	label := storetest.Server("n2", "b2", "boot", "52:54:00:00:00:02")
	label.Metadata.Labels = map[string]string{"row": "7"}
	if _, err := hub.Client(t).Objects.Apply(t.Context(), []resource.Object{label, storetest.Rack("empty")}, false); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ labels, rack, servers, racks string }{
		{"", "", "n1 Reserved, n2 Reserved", "empty r1"},
		{"row=7", "", "n2 Reserved", "r1"},
		{"row!=7", "", "n1 Reserved", "r1"},
		{"", "r1", "n1 Reserved, n2 Reserved", "r1"},
		{"", "empty", "", "empty"},
		{"row=8", "", "", ""},
	} {
		f := feedOf(t, hub, row.labels, row.rack)
		s, err := f.first(t.Context())
		var racks []string
		for _, r := range s.racks {
			racks = append(racks, r.Metadata.Name)
		}
		if err != nil || phases(s) != row.servers || strings.Join(racks, " ") != row.racks {
			t.Errorf("-l %q --rack %q: %q of %q, %v", row.labels, row.rack, phases(s), racks, err)
		}
	}
	if _, err := feedOf(t, hub, "", "r99").first(t.Context()); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
}

// A hub that has lost something says so, and what is left is shown.
func TestFeedOfAnIncompleteHub(t *testing.T) {
	hub := site(t)
	hub.Store.Lose(&heads.Loss{Items: []heads.Item{{Kind: "res.servers", Name: "n9", How: heads.Missing}}})
	s, err := feedOf(t, hub, "", "").first(t.Context())
	if err != nil || s.lacks == "" || phases(s) != "n1 Reserved, n2 Reserved" {
		t.Errorf("%q, %q, %v", s.lacks, phases(s), err)
	}
}

// The fields that rows are made of are enough: rows of all fields say the same.
func TestRowsNeedTheirFieldsOnly(t *testing.T) {
	whole := fleet()
	less := whole
	less.servers, less.racks, less.agents, less.holds = cutTo(t, whole.servers), cutTo(t, whole.racks), cutTo(t, whole.agents), cutTo(t, whole.holds)
	page := api.Page{}
	for i, o := range less.servers {
		page.Objects, page.Racks = append(page.Objects, o), append(page.Racks, whole.places.Of(whole.servers[i]))
	}
	less.places.Add(page)
	for _, tab := range []tab{servers, racks} {
		frames := [2]string{}
		for i, s := range []snapshot{whole, less} {
			m := newModel(s, 200, 24)
			m.tab = tab
			frames[i] = strings.Join(m.arranged().frame(noon(), painter{}), "\n")
		}
		if frames[0] != frames[1] {
			t.Errorf("got\n%s\nwant\n%s", frames[1], frames[0])
		}
	}
}

// cutTo are resources as a watch of their fields tells of them.
func cutTo[T resource.Object](t *testing.T, all []T) (out []T) {
	t.Helper()
	kind := resource.KindOf[T]()
	only, err := selector.ParseOnly(fields(kind), kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		raw, err := json.Marshal(o)
		if err == nil {
			raw, err = only.Of(raw)
		}
		cut := resource.NewObject(kind)
		if err == nil {
			err = json.Unmarshal(raw, cut)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, cut.(T))
	}
	return out
}

func TestReadCell(t *testing.T) {
	s := server("n1", "seg", nil)
	for _, row := range []struct {
		live, stale bool
		want        string
	}{{false, false, "7s"}, {true, false, "fresh"}, {false, true, "7s stale"}, {true, true, "7s stale"}} {
		s.Status.Stale = row.stale
		if got := readCell(s, noon(), row.live); got.text != row.want {
			t.Errorf("%+v: %q", row, got.text)
		}
	}
	s.Status.ReadAt, s.Status.Stale = nil, false
	if got := readCell(s, noon(), true); got.text != "-" {
		t.Errorf("never read: %q", got.text)
	}
}

// fleetOf has a hub have so many servers with canned statuses.
func fleetOf(b *testing.B, hub *apitest.Hub, n int) {
	b.Helper()
	s := many(n)
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
}

// What it takes until a fleet of 6,000 servers is told, hub and rackctl in one process.
func BenchmarkFeed(b *testing.B) {
	hub := apitest.New(b)
	fleetOf(b, hub, 6000)
	for b.Loop() {
		f := feedOf(b, hub, "", "")
		if s, err := f.first(b.Context()); err != nil || len(s.servers) != 6000 {
			b.Fatalf("%d servers, %v", len(s.servers), err)
		}
		f.close()
	}
}

// What goes between hub and rackctl for 10,000 servers of which 20 change each second, to the first screen and in half
// a minute after it.
func BenchmarkBytes(b *testing.B) {
	const every, lasts = time.Second, 30 * time.Second
	hub := apitest.New(b)
	fleetOf(b, hub, 10_000)
	for b.Loop() {
		way := &relay{to: strings.TrimPrefix(hub.URL, "https://")}
		link, _ := linkTo(b, hub, "https://"+way.open(b, "127.0.0.1:0"), apitest.Token)
		f := &feed{link: link, chosen: selecting(b, ""), clock: time.Now}
		if _, err := f.first(b.Context()); err != nil {
			b.Fatal(err)
		}
		first := way.passed.Load()
		ctx, cancel := context.WithTimeout(b.Context(), lasts)
		var group sync.WaitGroup
		shown := 0
		group.Go(func() {
			f.run(ctx, func(msg any) {
				if _, is := msg.(snapshot); is {
					shown++
				}
			})
		})
		tick := time.NewTicker(every)
		for n := 0; ctx.Err() == nil; n++ {
			for i := range 20 {
				name := fmt.Sprintf("worker-%d", (20*n+i)%10_000)
				runs(hub, name, []resource.Phase{resource.PhaseReserved, resource.PhaseError}[n%2])
				hub.Fleet.AddEvent(name, resource.ConditionCode(resource.EventArmed), "")
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
		tick.Stop()
		group.Wait()
		cancel()
		b.ReportMetric(float64(first)/1e6, "MB-first")
		b.ReportMetric(float64(way.passed.Load()-first)/1e6*float64(time.Minute/lasts), "MB/min")
		b.ReportMetric(float64(shown), "screens")
		f.close()
		way.cut()
	}
}

func put(b *testing.B, hub *apitest.Hub, o resource.Object) {
	b.Helper()
	if err := hub.Store.Objects.Put(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}
