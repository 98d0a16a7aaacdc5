package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
)

// answered is a list as it comes.
type answered struct {
	protoapi.List[json.RawMessage]
	status  int
	problem protoapi.Problem
}

func (a answered) names(t *testing.T) []string {
	t.Helper()
	out := []string{}
	for _, raw := range a.Items {
		var h resource.Header
		if err := json.Unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		out = append(out, h.Metadata.Name)
	}
	return out
}

// listed asks for a list. query is limit, after, selector and field in pairs.
func listed(t *testing.T, h http.Handler, who, kind string, query ...string) (out answered) {
	t.Helper()
	q := url.Values{}
	for pair := range slices.Chunk(query, 2) {
		q.Set(pair[0], pair[1])
	}
	got := ask(t, h, who, http.MethodGet, "/v1/"+kind+"?"+q.Encode(), "")
	out.status, out.problem = got.status, got.problem
	if got.status == http.StatusOK {
		if err := json.Unmarshal([]byte(got.text), &out); err != nil || out.Items == nil {
			t.Fatalf("%v: %s", err, got.text)
		}
	}
	return out
}

// fleet is n servers n1.. in rack r1 (row 7 and zone a), each third with a label of its own.
func fleet(t *testing.T, s *store.Store, n int) {
	t.Helper()
	rack := storetest.Rack("r1")
	rack.Metadata.Labels = map[string]string{"row": "7", "zone": "a"}
	objs := []resource.Object{rack, storetest.Segment("boot", "r1")}
	for i := 1; i <= n; i++ {
		bmc := fmt.Sprintf("b%d", i)
		server := storetest.Server(fmt.Sprintf("n%d", i), bmc, "boot", fmt.Sprintf("52:54:00:00:00:%02x", i))
		if i%3 == 0 {
			server.Metadata.Labels = map[string]string{"row": "8", "third": ""}
		}
		objs = append(objs, storetest.BMC(bmc, "r1"), server)
	}
	if _, err := s.Sets.Apply(t.Context(), objs, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
}

// Pages have what the list has, each item to the byte, in the order that people count in, and nothing of
// them is kept at the hub: each is asked of another one that has the same resources.
func TestPagesAreTheList(t *testing.T) {
	var hubs []http.Handler
	for range 2 {
		a, h := handler(t, func(*api.Config) {})
		rows(t, h.Store)
		fleetLike := []resource.Object{
			&resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretGeneric, Data: resource.SecretData{"password": resource.Plain("hidden-word")}}},
			storetest.Rack("r10"), storetest.Rack("r2"),
		}
		fleetLike[0].Head().Metadata.Name = "s1"
		if _, err := h.Store.Sets.Apply(t.Context(), fleetLike, store.ApplyOptions{By: "admin"}); err != nil {
			t.Fatal(err)
		}
		hubs = append(hubs, a)
	}
	items := 0
	for _, kind := range resource.Kinds() {
		all := listed(t, hubs[0], "admin", kind.Plural())
		want := all.Items
		name := func(raw json.RawMessage) string {
			return answered{List: protoapi.List[json.RawMessage]{Items: []json.RawMessage{raw}}}.names(t)[0]
		}
		slices.SortFunc(want, func(a, b json.RawMessage) int { return natural.Compare(name(a), name(b)) })
		if all.Next != "" || all.Revision != nil || all.Racks != nil {
			t.Errorf("%s: a list that is none of pages: %+v", kind, all)
		}
		for limit := 1; limit <= 3; limit++ {
			var got []json.RawMessage
			after, pages := "", 0
			for {
				// Names of holds are random: those are asked of one hub.
				at := hubs[pages%len(hubs)]
				if kind == resource.KindHold {
					at = hubs[0]
				}
				page := listed(t, at, "admin", kind.Plural(), "limit", fmt.Sprint(limit), "after", after)
				if page.status != http.StatusOK || len(page.Items) > limit || page.Revision == nil {
					t.Fatalf("%s, pages of %d: %d, %d items, revision %v: %s", kind, limit, page.status, len(page.Items), page.Revision, page.problem.Detail)
				}
				got, pages = append(got, page.Items...), pages+1
				if after = page.Next; after == "" {
					break
				}
			}
			if pages != max(1, (len(want)+limit-1)/limit) {
				t.Errorf("%s: %d pages of %d for %d", kind, pages, limit, len(want))
			}
			if len(got) != len(want) {
				t.Fatalf("%s, pages of %d: %d items, want %d", kind, limit, len(got), len(want))
			}
			for i := range want {
				if name(got[i]) != name(want[i]) || kind == resource.KindSecret && string(got[i]) != string(want[i]) {
					t.Errorf("%s, pages of %d: %s, want %s", kind, limit, got[i], want[i])
				}
			}
		}
		items += len(want)
	}
	if items < 12 {
		t.Errorf("%d resources: too few to show anything", items)
	}
}

// What is selected at the hub: labels of the rack count, and fields are those that are shown.
func TestListSelects(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	fleet(t, h.Store, 6)
	h.Fleet.SetServer("n2", resource.ServerStatus{Phase: resource.PhaseReserved})
	if _, err := h.Store.Sets.Apply(t.Context(), []resource.Object{storetest.Claim("c1", "n1"), storetest.Claim("c3", "n3")}, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		who, kind, selector, field string
		want                       string
	}{
		{"admin", "servers", "", "", "n1 n2 n3 n4 n5 n6"},
		{"admin", "servers", "row=7", "", "n1 n2 n4 n5"},
		{"admin", "servers", "row=8", "", "n3 n6"},
		{"admin", "servers", "zone=a,third", "", "n3 n6"},
		{"admin", "servers", "row in (7,8),!third", "", "n1 n2 n4 n5"},
		{"admin", "servers", "row=9", "", ""},
		{"admin", "servers", "", "status.phase=Reserved", "n2"},
		{"admin", "servers", "row=8", "status.phase!=Reserved", "n3 n6"},
		{"admin", "servers", "", "metadata.name=n5", "n5"},
		{"admin", "claims", "zone=a", "", "c1 c3"}, // of a server without a rack's label of its own, and of the rack
		{"admin", "bmcs", "row=7", "", "b1 b2 b3 b4 b5 b6"},
		{"admin", "racks", "row=7", "", "r1"},
		{"admin", "racks", "row=8", "", ""},
		{"row7", "servers", "", "", "n1 n2 n4 n5"},
		{"row7", "servers", "zone=a", "", "n1 n2 n4 n5"},
		{"row7", "servers", "row=8", "", ""},
		{"row7", "servers", "", "metadata.name=n3", ""},
	} {
		for _, limit := range []string{"", "1", "1000"} {
			query := []string{"selector", row.selector, "field", row.field}
			var got []string
			for after := ""; ; {
				q := query
				if limit != "" {
					q = append(slices.Clone(query), "limit", limit, "after", after)
				}
				page := listed(t, a, row.who, row.kind, q...)
				if page.status != http.StatusOK {
					t.Fatalf("%+v: %d %s", row, page.status, page.problem.Detail)
				}
				got = append(got, page.names(t)...)
				if after = page.Next; after == "" {
					break
				}
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("%+v, limit %q: %q", row, limit, got)
			}
		}
	}
	page := listed(t, a, "admin", "claims", "limit", "9")
	if !slices.Equal(page.Racks, []string{"r1", "r1"}) {
		t.Errorf("racks of claims: %q", page.Racks)
	}
	if page := listed(t, a, "admin", "racks", "limit", "9"); !slices.Equal(page.Racks, []string{"r1"}) {
		t.Errorf("racks of racks: %q", page.Racks)
	}
	if page := listed(t, a, "admin", "params", "limit", "9"); page.Racks != nil {
		t.Errorf("racks of nothing: %q", page.Racks)
	}
}

// A list has the fields that were asked for, and the rest of it is as ever.
func TestListOfFields(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	objs := storetest.Site()
	for _, o := range objs {
		o.Head().Metadata.Labels = map[string]string{"row": "7"}
	}
	if _, err := h.Store.Sets.Apply(t.Context(), objs, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	whole := listed(t, a, "admin", "servers", "limit", "1")
	for _, limit := range [][]string{{"limit", "1"}, nil} {
		page := listed(t, a, "admin", "servers", append(limit, "only", "metadata.labels,spec.bmcRef")...)
		want := `{"apiVersion":"rackboot/v1","kind":"Server","metadata":{"name":"n1","labels":{"row":"7"}},"spec":{"bmcRef":{"name":"b1"}}}`
		if got := string(page.Items[0]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if limit != nil && (page.Next != whole.Next || !slices.Equal(page.Racks, whole.Racks) || *page.Revision != *whole.Revision) {
			t.Errorf("%+v, whole %+v", page, whole)
		}
	}
	served := apitest.New(t).Client(t)
	if _, err := served.Objects.Apply(t.Context(), objs, false); err != nil {
		t.Fatal(err)
	}
	for p, err := range served.Objects.Pages(t.Context(), resource.KindServer, protoapi.Query{Only: "metadata.labels"}) {
		if err != nil || p.Objects[0].Head().Metadata.Labels["row"] != "7" || p.Objects[0].(*resource.Server).Spec.BMCRef.Name != "" {
			t.Errorf("%+v, %v", p.Objects, err)
		}
	}
	if got := listed(t, a, "admin", "servers"); string(got.Items[0]) != string(whole.Items[0]) {
		t.Errorf("without: %s", got.Items[0])
	}
	h.Fleet.SetServer("n1", resource.ServerStatus{Phase: resource.PhaseReserved})
	for only, want := range map[string]bool{"": true, "status.phase": true, "status": true, "metadata.labels,spec": false} {
		page := listed(t, a, "admin", "servers", "only", only)
		if got := strings.Contains(string(page.Items[0]), `"phase":"Reserved"`); got != want {
			t.Errorf("only %q: %s", only, page.Items[0])
		}
	}
	if got := listed(t, a, "admin", "servers", "only", "status.phase", "field", "status.phase=Reserved"); len(got.Items) != 1 {
		t.Errorf("with a field selector: %+v", got)
	}
	if got := listed(t, a, "admin", "servers", "only", "spec.bmc"); got.status != http.StatusBadRequest || got.problem.Code != protocol.CodeInvalid || got.problem.Hint == "" {
		t.Errorf("a field that there is not: %d %+v", got.status, got.problem)
	}
}

// What a caller may not see he does not find out by pages: no cursor names it, the labels of a rack that is
// hidden select nothing, and a list whose rest is hidden has ended.
func TestPagesHideWhatIsOutOfScope(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rack := storetest.Rack("r1")
	rack.Metadata.Labels = map[string]string{"secret": "word"}
	objs := []resource.Object{rack, storetest.Segment("boot", "r1")}
	for i := 1; i <= 9; i++ {
		bmc := fmt.Sprintf("b%d", i)
		s := storetest.Server(fmt.Sprintf("n%d", i), bmc, "boot", fmt.Sprintf("52:54:00:00:00:%02x", i))
		s.Metadata.Labels = map[string]string{"row": "8"}
		if i == 2 || i == 6 {
			s.Metadata.Labels["row"] = "7"
		}
		objs = append(objs, storetest.BMC(bmc, "r1"), s)
	}
	if _, err := h.Store.Sets.Apply(t.Context(), objs, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	first := listed(t, a, "row7", "servers", "limit", "1")
	raw, err := base64.RawURLEncoding.DecodeString(first.Next)
	if err != nil || !slices.Equal(first.names(t), []string{"n2"}) || !strings.HasSuffix(string(raw), "n2") || first.Racks != nil {
		t.Errorf("%q, next %q, racks %q, %v", first.names(t), raw, first.Racks, err)
	}
	second := listed(t, a, "row7", "servers", "limit", "1", "after", first.Next)
	if !slices.Equal(second.names(t), []string{"n6"}) || second.Next != "" {
		t.Errorf("%q, next %q", second.names(t), second.Next)
	}
	for who, want := range map[string]int{"admin": 9, "row7": 0} {
		if got := listed(t, a, who, "servers", "selector", "secret=word"); len(got.Items) != want {
			t.Errorf("%s: %q by the label of the rack, want %d", who, got.names(t), want)
		}
	}
}

// counted counts what is given its status.
type counted struct {
	*apitest.CannedFleet
	n atomic.Int64
}

func (c *counted) Decorate(obj resource.Object) {
	c.n.Add(1)
	c.CannedFleet.Decorate(obj)
}

// A page costs what it has: nothing else is copied or given its status. A selector that matches nothing
// ends a page after 10,000 labels or 1,000 whole resources, which is then empty and not the last.
func TestPageIsBounded(t *testing.T) {
	var status counted
	a, h := handler(t, func(c *api.Config) {
		status.CannedFleet = c.Rooms.Status.(*apitest.CannedFleet)
		c.Rooms.Status = &status
	})
	const racks = 10_001
	for i := range racks {
		rack := storetest.Rack(fmt.Sprintf("r%d", i))
		rack.Metadata.Labels = map[string]string{"all": "yes"}
		if err := h.Store.Objects.Put(t.Context(), rack); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name         string
		query        []string
		items, shown int
		last         bool
	}{
		{"a page", []string{"limit", "10"}, 10, 10, false},
		{"the most", []string{"limit", "1000"}, 1000, 1000, false},
		{"no label fits", []string{"limit", "10", "selector", "row=7"}, 0, 0, true},
		{"no rack is without it", []string{"limit", "10", "selector", "!all"}, 0, 0, false},
		{"no field fits", []string{"limit", "10", "field", "metadata.name=x"}, 0, 1000, false},
		{"a scope hides all", []string{"limit", "10", "who", "row7"}, 0, 0, true},
		{"all", nil, racks, racks, true},
		{"all of a label", []string{"selector", "row=7"}, 0, 0, true},
	} {
		who := "admin"
		if len(row.query) == 4 && row.query[2] == "who" {
			who, row.query = row.query[3], row.query[:2]
		}
		status.n.Store(0)
		got := listed(t, a, who, "racks", row.query...)
		if len(got.Items) != row.items || int(status.n.Load()) != row.shown || (got.Next == "") != row.last {
			t.Errorf("%s: %d items, %d given a status, next %q", row.name, len(got.Items), status.n.Load(), got.Next)
		}
	}
	first := listed(t, a, "admin", "racks", "limit", "10", "selector", "!all")
	if second := listed(t, a, "admin", "racks", "limit", "10", "selector", "!all", "after", first.Next); second.Next != "" || len(second.Items) > 0 || second.status != http.StatusOK {
		t.Errorf("behind the bound: %d, %q, next %q", second.status, second.names(t), second.Next)
	}
}

// What cannot be understood is refused, with the parameter that is wrong.
func TestListRefuses(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	fleet(t, h.Store, 3)
	next := listed(t, a, "admin", "servers", "limit", "1").Next
	for _, row := range []struct {
		name, kind string
		query      []string
		status     int
		says       string
	}{
		{"limit 0", "servers", []string{"limit", "0"}, 422, "query.limit"},
		{"limit too high", "servers", []string{"limit", "1001"}, 422, "query.limit"},
		{"limit is no number", "servers", []string{"limit", "many"}, 422, "query.limit"},
		{"a selector of thousands", "servers", []string{"selector", strings.Repeat("a,", 1025)}, 422, "query.selector"},
		{"fields of thousands", "servers", []string{"field", strings.Repeat("a=b,", 513)}, 422, "query.field"},
		{"after without limit", "servers", []string{"after", next}, 400, "without limit"},
		{"a broken cursor", "servers", []string{"limit", "1", "after", "n1"}, 400, `after="n1"`},
		{"a cursor of another kind", "bmcs", []string{"limit", "1", "after", next}, 400, "list bmcs"},
		{"a cursor of another selector", "servers", []string{"limit", "1", "after", next, "selector", "row=7"}, 400, "no cursor of this list"},
		{"a wrong selector", "servers", []string{"selector", "row=="}, 200, ""},
		{"no selector", "servers", []string{"selector", "row in 7"}, 400, "selector"},
		{"no field", "servers", []string{"field", "status.phse=Reserved"}, 400, "status.phse"},
		{"a field of another kind", "racks", []string{"field", "spec.bmcRef.name=b1"}, 400, "spec.bmcRef"},
	} {
		got := listed(t, a, "admin", row.kind, row.query...)
		text, _ := json.Marshal(got.problem)
		plain := strings.ReplaceAll(string(text), `\"`, `"`)
		if got.status != row.status || row.status != 200 && (got.problem.Code != protocol.CodeInvalid || got.problem.Hint == "" || !strings.Contains(plain, row.says)) {
			t.Errorf("%s: %d %s", row.name, got.status, text)
		}
	}
}

// BenchmarkList asks a hub of 50,000 servers for pages of 500, for those where a selector or a scope leaves
// nothing, and for all at once.
func BenchmarkList(b *testing.B) {
	a, h := handler(b, func(*api.Config) {})
	put := func(obj resource.Object) {
		if err := h.Store.Objects.Put(b.Context(), obj); err != nil {
			b.Fatal(err)
		}
	}
	put(storetest.Rack("r1"))
	put(storetest.Segment("boot", "r1"))
	for i := range 50_000 {
		name := fmt.Sprintf("n%d", i)
		put(storetest.BMC(name, "r1"))
		put(storetest.Server(name, name, "boot", fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16, i>>8&255, i&255)))
	}
	for _, row := range []struct{ name, who, query string }{
		{"page", "admin", "?limit=500"},
		{"label of nothing", "admin", "?limit=500&selector=row%3D7"},
		{"field of nothing", "admin", "?limit=500&field=status.phase%3DReserved"},
		{"scope of nothing", "row7", "?limit=500"},
		{"all", "admin", ""},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/v1/servers"+row.query, nil)
				r.Header.Set("Authorization", tokenOf(row.who))
				w := httptest.NewRecorder()
				a.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body.String())
				}
			}
		})
	}
}
