package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// request makes a request for a server's reboot, of the admin.
func request(t *testing.T, s *store.Store, id, server string) {
	t.Helper()
	_, err := s.Requests.Create(t.Context(), store.StoredRequest{
		Request: resource.Request{ID: id, Server: server, Action: resource.RequestReboot, Mode: resource.StopSoft, By: "admin", NotAfter: apitest.Now()},
		Rack:    "r1", Report: resource.RequestReport{ID: id, Outcome: resource.OutcomePending},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What is outside of a scope is not seen, one by one or in lists, and looks like what is
// not there.
func TestReadsAreFiltered(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	in, out := rows(t, h.Store)
	request(t, h.Store, "q1", "n1")
	request(t, h.Store, "q2", "n2")
	for kind, want := range map[string][]string{
		"racks": {}, "segments": {}, "agents": {}, "bmcs": {"b1"}, "servers": {"n1"}, "claims": {"c1"}, "holds": {in}, "bootconfigurations": {},
	} {
		var list struct {
			Items []resource.Header `json:"items"`
		}
		got := ask(t, a, "row7", http.MethodGet, "/v1/"+kind, "")
		if err := json.Unmarshal([]byte(got.text), &list); err != nil || list.Items == nil || len(list.Items) != len(want) {
			t.Errorf("%s: %s (%v), want %v", kind, got.text, err, want)
			continue
		}
		for i, name := range want {
			if list.Items[i].Metadata.Name != name {
				t.Errorf("%s: %s, want %s", kind, list.Items[i].Metadata.Name, name)
			}
		}
	}
	for _, row := range []struct{ path, none string }{
		{"/v1/servers/n2", "/v1/servers/n9"},
		{"/v1/racks/r1", "/v1/racks/r9"},
		{"/v1/bmcs/b2", "/v1/bmcs/b9"},
		{"/v1/bmcs/b3", "/v1/bmcs/b9"},
		{"/v1/claims/c2", "/v1/claims/c9"},
		{"/v1/holds/" + out, "/v1/holds/h9"},
		{"/v1/segments/boot", "/v1/segments/s9"},
		{"/v1/requests/q2", "/v1/requests/q9"},
	} {
		got, none, all := ask(t, a, "row7", http.MethodGet, row.path, ""), ask(t, a, "row7", http.MethodGet, row.none, ""), ask(t, a, "viewer", http.MethodGet, row.none, "")
		if got.status != http.StatusNotFound || got.problem.Op != none.problem.Op || got.problem.Hint != none.problem.Hint ||
			all.problem.Op != got.problem.Op || all.problem.Hint != got.problem.Hint || all.text != none.text {
			t.Errorf("%s is told from what is not there:\n%s\n%s\n%s", row.path, got.text, none.text, all.text)
		}
	}
	for _, path := range []string{"/v1/servers/n1", "/v1/bmcs/b1", "/v1/claims/c1", "/v1/holds/" + in, "/v1/requests/q1"} {
		if got := ask(t, a, "row7", http.MethodGet, path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
	}
}

// Events outside are left out, and pages are no shorter for it.
func TestEventsAreFiltered(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	for _, server := range []string{"n2", "n1", "n2", "", "gone", "n1", "n2"} {
		h.Fleet.AddEvent(server, resource.CondHeld, "x")
	}
	var list protoapi.EventList
	for _, row := range []struct {
		path string
		want []uint64
		next uint64
	}{{"/v1/events", []uint64{2, 6}, 7}, {"/v1/events?limit=1", []uint64{2}, 2}, {"/v1/events?after=2&limit=1", []uint64{6}, 6}, {"/v1/events?after=6", nil, 7}} {
		if err := json.Unmarshal([]byte(ask(t, a, "row7", http.MethodGet, row.path, "").text), &list); err != nil || list.Next != row.next || len(list.Items) != len(row.want) {
			t.Errorf("%s: %+v, %v", row.path, list, err)
			continue
		}
		for i, n := range row.want {
			if list.Items[i].Index != n {
				t.Errorf("%s: %+v", row.path, list)
			}
		}
	}
}

// The attacker has a scope and tries to leave it, by every way that names a server.
func TestScopeEscapes(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	in, out := rows(t, h.Store)
	labelled := func(s *resource.Server, row string) *resource.Server {
		s.Metadata.Labels = map[string]string{"row": row}
		return s
	}
	const mac = "52:54:00:00:00:0"
	selects := storetest.Claim("mine", "")
	selects.Spec.ServerRef, selects.Spec.ServerSelector = nil, &resource.Selector{MatchLabels: map[string]string{"gpu": "yes"}}
	both := []resource.Object{storetest.BMC("b9", "r1"), labelled(storetest.Server("n9", "b9", "boot", mac+"9"), "7")}
	for _, row := range []struct{ name, method, path, body string }{
		{"a claim for another's server", "POST", "/v1/apply", applyBody(t, storetest.Claim("mine", "n2"))},
		{"a claim for any server", "POST", "/v1/apply", applyBody(t, selects)},
		{"another's claim", "PUT", "/v1/claims/c2", text(t, storetest.Claim("c2", "n1"))},
		{"own server out of the scope", "PUT", "/v1/servers/n1", text(t, labelled(storetest.Server("n1", "b1", "boot", mac+"1"), "8"))},
		{"another's server into it", "PUT", "/v1/servers/n2", text(t, labelled(storetest.Server("n2", "b2", "boot", mac+"2"), "7"))},
		{"own server to another's BMC", "PUT", "/v1/servers/n1", text(t, labelled(storetest.Server("n1", "b2", "boot", mac+"1"), "7"))},
		{"own server to a free BMC", "PUT", "/v1/servers/n1", text(t, labelled(storetest.Server("n1", "b3", "boot", mac+"1"), "7"))},
		{"a new server behind another's BMC", "POST", "/v1/apply", applyBody(t, labelled(storetest.Server("n9", "b2", "boot", mac+"9"), "7"))},
		{"a new server behind a free BMC", "POST", "/v1/apply", applyBody(t, labelled(storetest.Server("n9", "b3", "boot", mac+"9"), "7"))},
		{"a new server behind a new BMC", "POST", "/v1/apply", applyBody(t, both...)},
		{"another's BMC", "PUT", "/v1/bmcs/b2", text(t, storetest.BMC("b2", "r1"))},
		{"a rack", "PUT", "/v1/racks/r1", text(t, storetest.Rack("r1"))},
		{"a segment", "PUT", "/v1/segments/boot", text(t, storetest.Segment("boot", "r1"))},
		{"one object of many", "POST", "/v1/apply", applyBody(t, storetest.Claim("c1", "n1"), storetest.Claim("mine", "n2"))},
		{"a dry run", "POST", "/v1/apply", `{"dryRun":true,` + applyBody(t, storetest.Claim("mine", "n2"))[1:]},
		{"deletion of a server", "DELETE", "/v1/servers/n2", ""},
		{"deletion of a claim", "DELETE", "/v1/claims/c2", ""},
		{"deletion of a claim with its holds", "DELETE", "/v1/claims/c2?releaseHolds=x", ""},
		{"deletion of a BMC without a server", "DELETE", "/v1/bmcs/b3", ""},
		{"a hold", "POST", "/v1/servers/n2/holds", `{"key":"k2"}`},
		{"a hold on what is not there", "POST", "/v1/servers/n9/holds", `{"key":"k2"}`},
		{"a hold by annotation", "POST", "/v1/servers/n2/annotations", `{"annotation":"reboot.metal3.io/x"}`},
		{"release of its own hold outside", "POST", "/v1/holds/" + out + "/release", ""},
		{"word of a server outside", "POST", "/v1/holds/" + out + "/confirm-down", `{"reason":"x"}`},
		{"a reboot", "POST", "/v1/servers/n2/requests", `{"anyPhase":true}`},
		{"firmware", "POST", "/v1/servers/n2/firmware", `{"for":"1m","reason":"x"}`},
		{"acceptance of a server", "POST", "/v1/servers/n2/accept", `{"identity":"x"}`},
		{"a TPM to be forgotten", "POST", "/v1/servers/n2/re-enrol", `{"enrolment":"x"}`},
		{"acceptance of a BMC", "POST", "/v1/bmcs/b2/accept", `{"credentialsRef":"local:x"}`},
		{"a probe", "POST", "/v1/bmcs/b2/probe", `{}`},
	} {
		before := h.Store.Changes("")
		got := ask(t, a, "row7", row.method, row.path, row.body)
		if got.status != http.StatusForbidden || got.problem.Code != protocol.CodeDenied || got.problem.Hint == "" || h.Store.Changes("") != before {
			t.Errorf("%s: %d %s, %d changes", row.name, got.status, got.text, h.Store.Changes("")-before)
		}
	}
	for _, row := range []struct{ name, method, path, body string }{
		{"its own claim", "PUT", "/v1/claims/c1", text(t, storetest.Claim("c1", "n1"))},
		{"its own server", "PUT", "/v1/servers/n1", text(t, labelled(storetest.Server("n1", "b1", "boot", mac+"1"), "7"))},
		{"another hold", "POST", "/v1/servers/n1/holds", `{"key":"k2"}`},
		{"release of its own hold", "POST", "/v1/holds/" + in + "/release", ""},
	} {
		if got := ask(t, a, "row7", row.method, row.path, row.body); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", row.name, got.status, got.text)
		}
	}
}
