package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// route is one operation of the OpenAPI document.
type route struct {
	method, path string
	right        access.Operation
	open         bool
}

// routes are those of the document: a route that is new is in them.
func routes(t *testing.T, h http.Handler) (out []route) {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Right    access.Operation      `json:"x-rackboot-right"`
			Security []map[string][]string `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(ask(t, h, "", http.MethodGet, protoapi.PathOpenAPI, "").text), &doc); err != nil {
		t.Fatal(err)
	}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			out = append(out, route{strings.ToUpper(method), path, op.Right, len(op.Security) == 0})
		}
	}
	if len(out) < 30 {
		t.Fatalf("%d routes", len(out))
	}
	return out
}

// at is the path with names of what there is.
func (r route) at(hold string) string {
	path := strings.ReplaceAll(r.path, "{id}", hold)
	for plural, name := range map[string]string{"servers": "n1", "bmcs": "b1", "racks": "r1", "claims": "c1", "segments": "boot", "holds": hold} {
		path = strings.Replace(path, "/"+plural+"/{name}", "/"+plural+"/"+name, 1)
	}
	return strings.ReplaceAll(path, "{name}", "x")
}

// The attacker has a token of another role: every route is tried by every role, and by
// nobody. What is denied has changed nothing, and is in the audit log.
func TestEveryRouteByEveryRole(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	hold, _ := rows(t, h.Store)
	roles := []access.Role{access.Viewer, access.Operator, access.Fencer}
	slices.SortFunc(roles, func(a, b access.Role) int { return strings.Compare(string(a), string(b)) })
	for _, r := range routes(t, a) {
		name := r.method + " " + r.path
		if r.open {
			if !slices.Contains([]string{protoapi.PathJoin, protoapi.PathRenew, protoapi.PathIgnition, protoapi.PathEnvBundle, protoapi.PathLogin, protoapi.PathISOContent + "{digest}"}, r.path) {
				t.Errorf("%s needs no caller", name)
			}
			continue
		}
		if r.right == "" {
			t.Errorf("%s has no rule: add one to rules", name)
			continue
		}
		if got := ask(t, a, "", r.method, r.at(hold), "{}"); got.status != http.StatusUnauthorized || got.problem.Code != protocol.CodeDenied {
			t.Errorf("%s by nobody: %d %s", name, got.status, got.text)
		}
		reads := []access.Operation{access.Read, access.Firmware, access.AuditRead, access.Backup, access.Secret}
		if r.method == http.MethodGet && !slices.Contains(reads, r.right) || r.method != http.MethodGet && r.right == access.Read {
			t.Errorf("%s needs the right %q", name, r.right)
		}
		for _, role := range roles {
			may := access.MayAnywhere(access.Caller{Roles: []access.Role{role}}, r.right)
			if may && r.method != http.MethodGet {
				continue // what it does is for the tests of the route
			}
			changes, entries := h.Store.Changes(""), len(h.Records.Entries())
			got := ask(t, a, string(role), r.method, r.at(hold), "{}")
			if may == (got.status == http.StatusForbidden) || got.status == http.StatusInternalServerError {
				t.Errorf("%s by %s: %d %s", name, role, got.status, got.text)
			}
			if may {
				continue
			}
			if got.problem.Hint == "" || h.Store.Changes("") != changes {
				t.Errorf("%s by %s changed something, or says not what to do: %s", name, role, got.text)
			}
			if list := h.Records.Entries(); len(list) != entries+1 {
				continue // so many denials are recorded and no more; see TestDenialsAreRecorded
			} else if e := list[entries]; e.Caller != string(role) || e.Outcome != protocol.AuditRefused || e.Code != protocol.CodeDenied ||
				e.Op != string(r.right) && !strings.HasSuffix(r.path, "/"+e.Op) { // where one right has several acts, the act is noted
				t.Errorf("%s by %s: %+v", name, role, e)
			}
		}
	}
}

// A caller sees what it is.
func TestWhoami(t *testing.T) {
	a, _ := handler(t, func(*api.Config) {})
	for _, row := range []struct {
		who, roles, scope string
		may               []access.Operation
	}{
		{"viewer", "viewer", "", []access.Operation{access.Read}},
		{"row7", "viewer,operator,fencer", "7", nil},
		{"ha", "viewer,operator,fencer", "", nil},
		{"admin", "admin", "", access.Operations()},
	} {
		var me protoapi.Whoami
		if err := json.Unmarshal([]byte(ask(t, a, row.who, http.MethodGet, protoapi.PathWhoami, "").text), &me); err != nil {
			t.Fatal(err)
		}
		if me.Name != row.who || strings.Join(me.Roles, ",") != row.roles || me.Scope["row"] != row.scope || me.BreakGlass != (row.who == "admin") {
			t.Errorf("%+v", me)
		}
		if row.may != nil && len(me.May) != len(row.may) || slices.Contains(me.May, string(access.JoinToken)) != (row.who == "admin") {
			t.Errorf("%s: %v", row.who, me.May)
		}
	}
}

// A right that a route needs besides its first one.
func TestSecondRights(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	if got := ask(t, a, "operator", http.MethodDelete, "/v1/claims/c1?releaseHolds=now", ""); got.status != http.StatusForbidden {
		t.Errorf("an operator releases holds: %d %s", got.status, got.text)
	}
	if n := len(h.Store.Holds.On("n1")); n != 1 {
		t.Errorf("%d holds", n)
	}
	if got := ask(t, a, "operator", http.MethodDelete, "/v1/agents/a1", ""); got.status != http.StatusForbidden || got.problem.Op != string(access.Replace) {
		t.Errorf("an operator deletes an agent: %d %s", got.status, got.text)
	}
}
