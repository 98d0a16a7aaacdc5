package api_test

import (
	"net/http"
	"strings"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Who changes what somebody else has changed meanwhile is told so.
func TestRevisions(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	get := func(path string) string {
		t.Helper()
		got := ask(t, a, "viewer", http.MethodGet, path, "")
		if tag := got.header.Get("ETag"); len(tag) > 2 {
			return tag
		}
		t.Fatalf("%s: %d, ETag %q", path, got.status, got.header.Get("ETag"))
		return ""
	}
	described := func(text string) *resource.Rack {
		r := storetest.Rack("r1")
		r.Spec.Description = text
		return r
	}
	old := get("/v1/racks/r1")
	first := ask(t, a, "operator", http.MethodPut, "/v1/racks/r1", text(t, described("a")), "If-Match: "+old)
	if first.status != http.StatusOK || first.header.Get("ETag") == old || first.header.Get("ETag") != get("/v1/racks/r1") {
		t.Fatalf("%d %s, ETag %s", first.status, first.text, first.header.Get("ETag"))
	}
	stale := described("b")
	stale.Metadata.Revision = 1
	both := described("b")
	both.Metadata.Revision = 999
	for _, row := range []struct {
		name, method, path, body, match string
		status                          int
		code                            protocol.Code
	}{
		{"an old ETag", "PUT", "/v1/racks/r1", text(t, described("b")), old, 412, protocol.CodeConflict},
		{"an ETag of what is not there", "PUT", "/v1/racks/r9", text(t, storetest.Rack("r9")), old, 412, protocol.CodeConflict},
		{"an old revision", "PUT", "/v1/racks/r1", text(t, stale), "", 409, protocol.CodeConflict},
		{"an old revision in a set", "POST", "/v1/apply", applyBody(t, stale), "", 409, protocol.CodeConflict},
		{"two that differ", "PUT", "/v1/racks/r1", text(t, both), old, 400, protocol.CodeInvalid},
		{"no ETag", "PUT", "/v1/racks/r1", text(t, described("b")), "17", 400, protocol.CodeInvalid},
		{"a weak one", "PUT", "/v1/racks/r1", text(t, described("b")), `W/"17"`, 400, protocol.CodeInvalid},
		{"zero", "PUT", "/v1/racks/r1", text(t, described("b")), `"0"`, 400, protocol.CodeInvalid},
		{"deletion by an old ETag", "DELETE", "/v1/bmcs/b3", "", `"1"`, 412, protocol.CodeConflict},
		{"deletion of a claim by an old ETag", "DELETE", "/v1/claims/c1", "", `"1"`, 412, protocol.CodeConflict},
		{"deletion by no ETag", "DELETE", "/v1/bmcs/b3", "", "x", 400, protocol.CodeInvalid},
	} {
		before := h.Store.Changes("")
		got := ask(t, a, "operator", row.method, row.path, row.body, "If-Match: "+row.match)
		if got.status != row.status || got.problem.Code != row.code || got.problem.Hint == "" || h.Store.Changes("") != before {
			t.Errorf("%s: %d %s", row.name, got.status, got.text)
		}
	}
	if got := ask(t, a, "viewer", http.MethodGet, "/v1/racks/r1", ""); !strings.Contains(got.text, `"description":"a"`) {
		t.Error(got.text)
	}
	for _, path := range []string{"/v1/bmcs/b3", "/v1/claims/c1"} {
		if got := ask(t, a, "admin", http.MethodDelete, path, "", "If-Match: "+get(path)); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
	}
}
