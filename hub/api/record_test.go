package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// Each action is in the log before it is begun and once it has ended, with who, where
// from, what, why and how.
func TestRecords(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	hold, _ := rows(t, h.Store)
	n := 0
	for _, row := range []struct {
		name, who, method, path, body string
		want                          protocol.AuditEntry // without At, From and Seq; Roles of who
	}{
		{
			"a hold", "fencer", "POST", "/v1/servers/n1/holds", `{"key":"x","reason":"disk"}`,
			protocol.AuditEntry{Caller: "fencer", Op: "hold", Target: "Server/n1", Reason: "disk", Outcome: protocol.AuditAccepted},
		},
		{
			"a foreign hold", "fencer", "POST", "/v1/holds/" + hold + "/release", `{"breakGlass":"mine"}`,
			protocol.AuditEntry{Caller: "fencer", Op: "release", Target: "Hold/" + hold, Reason: "mine", Outcome: protocol.AuditRefused, Code: protocol.CodeDenied},
		},
		{
			"a set", "operator", "POST", "/v1/apply", applyBody(t, storetest.Claim("c1", "n1"), storetest.Rack("r1")),
			protocol.AuditEntry{Caller: "operator", Op: "apply", Target: "Claim/c1 and 1 more", Outcome: protocol.AuditAccepted},
		},
		{
			"one resource", "operator", "PUT", "/v1/claims/c1", text(t, storetest.Claim("c1", "n1")),
			protocol.AuditEntry{Caller: "operator", Op: "apply", Target: "Claim/c1", Outcome: protocol.AuditAccepted},
		},
		{
			"nonsense", "operator", "POST", "/v1/apply", `{`,
			protocol.AuditEntry{Caller: "operator", Op: "apply", Target: "/", Outcome: protocol.AuditRefused, Code: protocol.CodeInvalid},
		},
		{
			"a deletion", "operator", "DELETE", "/v1/racks/r1", "",
			protocol.AuditEntry{Caller: "operator", Op: "delete", Target: "Rack/r1", Outcome: protocol.AuditRefused, Code: protocol.CodeConflict},
		},
		{
			"a deletion with holds", "admin", "DELETE", "/v1/claims/c2?releaseHolds=gone", "",
			protocol.AuditEntry{Caller: "admin", Op: "delete", Target: "Claim/c2", Reason: "gone", Outcome: protocol.AuditAccepted},
		},
		{
			"a maintenance", "operator", "PUT", "/v1/maintenances/m1", text(t, bareMaintenance()),
			protocol.AuditEntry{Caller: "operator", Op: "apply", Target: "Maintenance/m1", Outcome: protocol.AuditAccepted},
		},
		{
			"a yes", "operator", "POST", "/v1/maintenances/m1/approve", `{"reason":"tonight"}`,
			protocol.AuditEntry{Caller: "operator", Op: "approve", Target: "Maintenance/m1", Reason: "tonight", Outcome: protocol.AuditAccepted},
		},
		{
			"a no", "operator", "POST", "/v1/maintenances/m1/deny", `{"reason":"not today"}`,
			protocol.AuditEntry{Caller: "operator", Op: "deny", Target: "Maintenance/m1", Reason: "not today", Outcome: protocol.AuditAccepted},
		},
		{
			"a join", "", "POST", "/v1/join", `{"token":"sesame","key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`,
			protocol.AuditEntry{Op: "join", Outcome: protocol.AuditRefused, Code: protocol.CodeDenied},
		},
	} {
		ask(t, a, row.who, row.method, row.path, row.body, "X-Forwarded-For: 203.0.113.9")
		list := h.Records.Entries()[n:]
		n += len(list)
		if len(list) != 2 {
			t.Errorf("%s: %d entries: %+v", row.name, len(list), list)
			continue
		}
		asked, ended := list[0], list[1]
		if asked.Outcome != protocol.AuditAsked || asked.Code != "" || asked.Detail != "" {
			t.Errorf("%s: %+v", row.name, asked)
		}
		if (ended.Detail == "") != (row.want.Code == "") {
			t.Errorf("%s: detail %q", row.name, ended.Detail)
		}
		asked.Outcome, asked.Code, asked.Detail, ended.Detail = ended.Outcome, ended.Code, "", ""
		for _, e := range []protocol.AuditEntry{asked, ended} {
			if !e.At.Equal(apitest.Now()) || e.From != "192.0.2.1" || (len(e.Roles) > 0) != (row.who != "") {
				t.Errorf("%s: at %s from %q as %v", row.name, e.At, e.From, e.Roles)
			}
			e.At, e.From, e.Seq, e.Roles = row.want.At, "", 0, nil
			if diff := cmp.Diff(row.want, e); diff != "" {
				t.Errorf("%s (-want +got): %s", row.name, diff)
			}
		}
	}
	for _, e := range h.Records.Entries() {
		if strings.Contains(fmt.Sprint(e), "sesame") {
			t.Errorf("a secret is in %+v", e)
		}
	}
}

// Reads are not recorded.
func TestReadsAreNotRecorded(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	for _, path := range []string{"/v1/servers", "/v1/servers/none", protoapi.PathWhoami, protoapi.PathHealth} {
		ask(t, a, "viewer", http.MethodGet, path, "")
	}
	if list := h.Records.Entries(); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

// Denials are recorded, so many and no more: the attacker cannot fill the disk.
func TestDenialsAreRecorded(t *testing.T) {
	a, h := handler(t, func(c *api.Config) { c.Limits = gate.Limits{SourcePerSecond: 1000} })
	for range 40 {
		ask(t, a, "viewer", http.MethodPost, "/v1/servers/n1/holds", `{"key":"x","reason":"y"}`)
		ask(t, a, "nobody", http.MethodPost, "/v1/servers/n1/holds", `{"key":"x"}`)
	}
	list := h.Records.Entries()
	if len(list) < 60 || len(list) > 65 { // one more for each second that passes
		t.Errorf("%d entries", len(list))
	}
	known, unknown := list[0], list[1]
	if known.Caller != "viewer" || known.Op != string(access.Hold) || known.Target != "Server/n1" || known.Outcome != protocol.AuditRefused || known.Code != protocol.CodeDenied {
		t.Errorf("%+v", known)
	}
	if unknown.Caller != "" || unknown.Op != "authenticate" || unknown.Outcome != protocol.AuditRefused || unknown.From != "192.0.2.1" {
		t.Errorf("%+v", unknown)
	}
}

// What cannot be recorded is not done; what cannot be recorded afterwards is counted.
func TestNothingWithoutARecord(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	h.Records.Fail(fmt.Errorf("disk full"))
	before := h.Store.Changes("")
	for _, r := range routes(t, a) {
		if r.method == http.MethodGet || strings.HasSuffix(r.path, "/content") || strings.Contains(r.path, "/programs/") { // a piece of what was begun, which is recorded
			continue
		}
		who := "admin"
		if r.open {
			who = ""
		}
		if got := ask(t, a, who, r.method, r.at("x"), "{}"); got.status != http.StatusServiceUnavailable || got.problem.Code != protocol.CodeUnavailable || got.problem.Hint == "" {
			t.Errorf("%s %s: %d %s", r.method, r.path, got.status, got.text)
		}
	}
	if h.Store.Changes("") != before {
		t.Error("something was changed")
	}
	if got := ask(t, a, "viewer", http.MethodGet, "/v1/servers", ""); got.status != http.StatusOK {
		t.Errorf("a read: %d %s", got.status, got.text)
	}
}
