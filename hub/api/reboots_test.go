package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// annotated is the server n1 with annotations.
func annotated(pairs ...string) *resource.Server {
	s := storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")
	s.Metadata.Annotations = map[string]string{"team": "x"}
	for i := 0; i < len(pairs); i += 2 {
		s.Metadata.Annotations[pairs[i]] = pairs[i+1]
	}
	return s
}

// held are the keys of the holds that lie on a server, with their owners.
func held(h *apitest.Hub, server string) string {
	var out []string
	for _, x := range h.Store.Holds.On(server) {
		out = append(out, x.Spec.Owner+" "+x.Spec.Key+" "+string(x.Spec.Mode))
	}
	return strings.Join(out, ", ")
}

// A fence asked for on the object itself is a hold of who applied it; who may not hold is refused, and
// nothing is written. Nobody else's apply changes it.
func TestRebootsOfAppliedObjects(t *testing.T) {
	h, admin, _ := owned(t)
	operator, viewer := h.ClientOf(t, apitest.TokenOf("operator")), h.ClientOf(t, apitest.TokenOf("viewer"))
	const key, value = "reboot.metal3.io/k", `{'mode':'hard'}`
	for _, row := range []struct {
		name string
		who  *protoapi.Client
		obj  *resource.Server
		want protocol.Code
		held string
		say  string
	}{
		{"who may not apply", viewer, annotated(key, value), protocol.CodeDenied, "", ""},
		{"set", admin, annotated(key, value), "", "admin k hard", "held"},
		{"again", admin, annotated(key, value), "", "admin k hard", ""},
		{"left out by another", operator, annotated(), "", "admin k hard", ""},
		{"softer", admin, annotated(key, ""), protocol.CodeConflict, "admin k hard", ""},
		{"wrong with another right", admin, annotated(key, value, "reboot.metal3.io/l", "hard"), protocol.CodeInvalid, "admin k hard", ""},
		{"another beside", admin, annotated(key, value, "reboot.metal3.io/l", ""), "", "admin k hard, admin l soft", "held"},
		{"one left out", admin, annotated("reboot.metal3.io/l", ""), "", "admin l soft", "released"},
		{"all left out", admin, annotated(), "", "", "released"},
		{"a reboot", admin, annotated("reboot.metal3.io", ""), "", "", "asked"},
		{"the same", admin, annotated("reboot.metal3.io", ""), "", "", ""},
		{"another", admin, annotated("reboot.metal3.io", value), "", "", "asked"},
	} {
		before := len(h.Store.Requests.Open())
		out, err := row.who.Objects.Apply(t.Context(), []resource.Object{row.obj}, false)
		if protocol.CodeOf(err) != row.want {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
		if got := held(h, "n1"); got != row.held {
			t.Errorf("%s: held by %q, want %q", row.name, got, row.held)
		}
		said := ""
		if err == nil {
			for _, r := range out.Results[0].Reboots {
				said += r.Outcome
			}
		}
		if said != row.say {
			t.Errorf("%s: the answer says %q, want %q", row.name, said, row.say)
		}
		if n := len(h.Store.Requests.Open()) - before; n != strings.Count(row.say, "asked") {
			t.Errorf("%s: %d requests", row.name, n)
		}
		if err != nil {
			continue
		}
		// What is stored has them nowhere else, and the reader sees its own.
		stored, err := h.Store.Objects.Get(resource.KindServer, "n1")
		if err != nil || fmt.Sprint(stored.Head().Metadata.Annotations) != "map[team:x]" {
			t.Errorf("%s: %v, %v", row.name, stored.Head().Metadata.Annotations, err)
		}
		read, err := protoapi.Get[*resource.Server](t.Context(), row.who, "n1")
		if row.who == admin && (err != nil || fmt.Sprint(read.Metadata.Annotations) != fmt.Sprint(row.obj.Metadata.Annotations)) {
			t.Errorf("%s: read as %v, %v", row.name, read.Metadata.Annotations, err)
		}
	}
}

// Who may apply and not hold does not hold by an annotation, and changes nothing with it.
func TestRebootsNeedTheirRight(t *testing.T) {
	h, _, ha := owned(t)
	for name, row := range map[string]struct {
		who  *protoapi.Client
		want protocol.Code
		held string
	}{
		"operator": {h.ClientOf(t, apitest.TokenOf("operator")), protocol.CodeDenied, ""},
		"ha":       {ha, "", "ha k soft"},
	} {
		changed := annotated("reboot.metal3.io/k", "")
		changed.Metadata.Labels = map[string]string{"by": name}
		_, err := row.who.Objects.Apply(t.Context(), []resource.Object{changed}, false)
		stored, gone := h.Store.Objects.Get(resource.KindServer, "n1")
		if protocol.CodeOf(err) != row.want || gone != nil || (stored.Head().Metadata.Labels["by"] == name) != (err == nil) {
			t.Errorf("%s: %v, want %q; stored %v", name, err, row.want, stored.Head().Metadata.Labels)
		}
		if err == nil && held(h, "n1") != row.held {
			t.Errorf("%s: held by %q", name, held(h, "n1"))
		}
	}
}

// A new server with an annotation is held once it is there; a claim's annotation holds its server.
func TestRebootsOfNewObjects(t *testing.T) {
	h, admin, _ := owned(t)
	bmc, srv := storetest.BMC("b9", "r1"), storetest.Server("n9", "b9", "boot", "52:54:00:00:00:09")
	srv.Metadata.Annotations = map[string]string{"reboot.metal3.io/k": ""}
	claim := storetest.Claim("c9", "n9")
	claim.Metadata.Annotations = map[string]string{"reboot.metal3.io/l": ""}
	if _, err := admin.Objects.Apply(t.Context(), []resource.Object{claim, srv, bmc}, true); err != nil || held(h, "n9") != "" {
		t.Fatalf("dry run: %v, held by %q", err, held(h, "n9"))
	}
	out, err := admin.Objects.Apply(t.Context(), []resource.Object{claim, srv, bmc}, false)
	if err != nil || held(h, "n9") != "admin l soft, admin k soft" {
		t.Fatalf("%+v, %v, held by %q", out, err, held(h, "n9"))
	}
	for _, r := range out.Results[:2] {
		obj, err := h.Store.Objects.Get(r.Kind, r.Name)
		if err != nil || obj.Head().Metadata.Revision != r.Revision || len(*resource.Reboots(obj)) != 1 {
			t.Errorf("%s: revision %d, stored %+v, %v", r.Name, r.Revision, obj.Head().Metadata, err)
		}
	}
}

// A key that its caller has set on the server and on its claim holds until neither has it.
func TestRebootsOfBothObjects(t *testing.T) {
	h, admin, _ := owned(t)
	const key = "reboot.metal3.io/k"
	claim := func(annotations map[string]string) resource.Object {
		c := storetest.Claim("c1", "n1")
		c.Metadata.Annotations = annotations
		return c
	}
	set := map[string]string{key: ""}
	for i, step := range []struct {
		objs []resource.Object
		held string
	}{
		{[]resource.Object{annotated(key, ""), claim(set)}, "admin k soft"},
		{[]resource.Object{annotated()}, "admin k soft"}, // the claim has it
		{[]resource.Object{annotated(key, ""), claim(nil)}, "admin k soft"},
		{[]resource.Object{claim(set)}, "admin k soft"},
		{[]resource.Object{annotated(), claim(set)}, "admin k soft"},
		{[]resource.Object{annotated(key, "")}, "admin k soft"},
		{[]resource.Object{annotated(), claim(nil)}, ""},
	} {
		if _, err := admin.Objects.Apply(t.Context(), step.objs, false); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if got := held(h, "n1"); got != step.held {
			t.Errorf("step %d: held by %q, want %q", i, got, step.held)
		}
	}
}

// Annotations that nobody would act on are refused with their place, and an import neither holds nor
// releases.
func TestRebootsRefused(t *testing.T) {
	a, _ := handler(t, func(*api.Config) {})
	rack := `{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r9","uid":"u9","generation":1,"createdAt":"2026-11-20T09:00:00Z","annotations":{"reboot.metal3.io/k":""}},"spec":{}}`
	server := `{"apiVersion":"rackboot/v1","kind":"Server","metadata":{"name":"n1","uid":"u1","generation":1,"createdAt":"2026-11-20T09:00:00Z","annotations":{"reboot.metal3.io/k":""}},"spec":{}}`
	for _, c := range []struct {
		path, body string
		code       int
		part       string
	}{
		{protoapi.PathApply, `{"objects":[` + rack + `]}`, http.StatusBadRequest, "only a Server or a Claim"},
		{protoapi.PathImport, `{"reason":"r","objects":[` + server + `]}`, http.StatusOK, "an import neither holds nor reboots"},
	} {
		if got := ask(t, a, "admin", http.MethodPost, c.path, c.body); got.status != c.code || !strings.Contains(got.text, c.part) {
			t.Errorf("%s: %d %.300s", c.path, got.status, got.text)
		}
	}
}

// A hold that a claim has set too is not released by an apply of its server, also while the claim still waits for that
// server.
func TestRebootOfAWaitingClaim(t *testing.T) {
	h, admin, _ := owned(t)
	claim := storetest.Claim("c9", "n1")
	claim.Metadata.Annotations = map[string]string{"reboot.metal3.io/k": ""}
	for _, row := range []struct {
		obj  resource.Object
		held string
	}{
		{annotated("reboot.metal3.io/k", ""), "admin k soft"},
		{claim, "admin k soft"},
		{annotated(), "admin k soft"},
		{storetest.Claim("c9", "n1"), ""},
	} {
		if _, err := admin.Objects.Apply(t.Context(), []resource.Object{row.obj}, false); err != nil || held(h, "n1") != row.held {
			t.Errorf("%s: %v, %q is held", row.obj.Head().Kind, err, held(h, "n1"))
		}
	}
}
