package api_test

import (
	"net/http"
	"strings"
	"testing"

	"rackboot/hub/api"
	"rackboot/protocol"
	"rackboot/state/heads"
)

// Of a store that has lost something no route says to anybody that something is not there, and each list says that it is
// incomplete; who does not see everything hears no names. What no route is stays not found.
func TestNoRouteSaysThatItIsNotThere(t *testing.T) {
	a, h := handler(t, func(c *api.Config) {
		c.Writable = func() error {
			if l := c.Store.Lost(); l != nil {
				return l.Err("change")
			}
			return nil
		}
	})
	absent := func(r route) string {
		path := strings.NewReplacer("{name}", "no-such", "{id}", "no-such", "{digest}", "sha256:"+strings.Repeat("0", 64)).Replace(r.path)
		if strings.HasSuffix(path, "/trace") || strings.HasSuffix(path, "/diff") {
			return path + "?from=1&to=2&attempt=1"
		}
		return path
	}
	all := routes(t, a)
	before := map[string]bool{}
	for _, r := range all {
		if r.method == http.MethodGet && ask(t, a, "admin", r.method, absent(r), "").status == http.StatusNotFound {
			before[r.path] = true
		}
	}
	if len(before) < 15 {
		t.Fatalf("%d routes say that something is not there: it is not asked for what is not", len(before))
	}
	h.Store.Lose(&heads.Loss{Items: []heads.Item{{Kind: "res.holds", Name: "h-lost", Note: "server n1", How: heads.Missing}}})
	lists := 0
	for _, who := range []string{"admin", "row7", "viewer"} {
		for _, r := range all {
			got := ask(t, a, who, r.method, absent(r), "{}")
			name := r.method + " " + r.path
			switch {
			case got.status == http.StatusNotFound, who == "admin" && r.method == http.MethodGet && before[r.path] && (got.problem.Code != protocol.CodeUnavailable || got.problem.Hint != heads.Hint):
				t.Errorf("%s: %d %s", name, got.status, got.text)
			case got.status == http.StatusOK && strings.Contains(got.text, `"items":`) && !strings.Contains(r.path, "/audit") && !strings.Contains(got.text, `"incomplete":{`):
				t.Errorf("%s: a list that says it is complete: %s", name, got.text)
			case r.method != http.MethodGet && got.status < http.StatusBadRequest:
				t.Errorf("%s: %d, it may have changed something", name, got.status)
			case who == "row7" && strings.Contains(got.text, "h-lost"):
				t.Errorf("%s: a name for who does not see everything: %s", name, got.text)
			case who == "admin" && strings.HasSuffix(r.path, "/holds") && r.method == http.MethodGet && !strings.Contains(got.text, "h-lost"):
				t.Errorf("%s: it does not name what was lost: %s", name, got.text)
			}
			if strings.Contains(got.text, `"incomplete":{`) {
				lists++
			}
		}
	}
	if lists < 40 {
		t.Errorf("%d lists", lists)
	}
	if got := ask(t, a, "admin", http.MethodGet, "/v1/nothing-here", ""); got.status != http.StatusNotFound {
		t.Errorf("no route: %d %s", got.status, got.text)
	}
}
