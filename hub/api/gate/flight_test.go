package gate

import (
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"rackboot/hub/access"
)

// Whoever may do less than before is cut off, and nobody else.
func TestLowered(t *testing.T) {
	row := func(n string) access.Scope { return access.Scope{MatchLabels: map[string]string{"row": n}} }
	who := func(name string, scope access.Scope, glass bool, roles ...access.Role) access.Caller {
		return access.Caller{Name: name, Roles: roles, Scope: scope, BreakGlass: glass}
	}
	all := access.Scope{}
	for name, c := range map[string]struct {
		was, is access.Caller
		want    bool
	}{
		"the same":                 {who("a", row("7"), true, access.Viewer), who("a", row("7"), true, access.Viewer), false},
		"somebody else":            {who("a", all, false, access.Viewer), who("b", all, false, access.Viewer), true},
		"a role more":              {who("a", all, false, access.Viewer), who("a", all, false, access.Viewer, access.Fencer), false},
		"a role less":              {who("a", all, false, access.Viewer, access.Fencer), who("a", all, false, access.Viewer), true},
		"the admin's in its place": {who("a", all, false, access.Fencer), who("a", all, false, access.Admin), false},
		"the admin's taken":        {who("a", all, false, access.Admin), who("a", all, false, access.Viewer, access.Operator, access.Fencer), true},
		"another scope":            {who("a", row("7"), false, access.Viewer), who("a", row("8"), false, access.Viewer), true},
		"a scope now":              {who("a", all, false, access.Viewer), who("a", row("8"), false, access.Viewer), true},
		"no scope any more":        {who("a", row("7"), false, access.Viewer), who("a", all, false, access.Viewer), false},
		"no glass to break":        {who("a", all, true, access.Fencer), who("a", all, false, access.Fencer), true},
	} {
		if got := lowered(c.was, c.is); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A caller whose token counts no more is cut off when he is asked for anew, and only he.
func TestStillAsksAnew(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/watch/servers", http.NoBody)
	r.Header.Set("Authorization", "Bearer 0123456789abcdef-token")
	known := &callers{known: []known{{Caller: access.Caller{Name: "a"}, token: sha256.Sum256([]byte("0123456789abcdef-token")), byToken: true}}}
	var now atomic.Pointer[callers]
	now.Store(known)
	var all flights
	_, one := all.begin(r, httptest.NewRecorder(), access.Caller{Name: "a"}, known, &now)
	defer all.end(one)
	if !one.still(known) {
		t.Error("cut off although nothing has changed")
	}
	if one.still(&callers{}) || !one.wasCut() {
		t.Error("not cut off")
	}
}
