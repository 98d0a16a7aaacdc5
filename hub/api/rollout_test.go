package api_test

import (
	"net/http"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func groupWith(name string, s resource.RolloutStrategy) *resource.ServerGroup {
	g := &resource.ServerGroup{Spec: resource.ServerGroupSpec{
		Selector: resource.Selector{MatchLabels: map[string]string{"role": name}}, Catalogue: "os",
		Rollout: resource.RolloutSpec{Strategy: s},
	}}
	g.Metadata.Name = name
	g.Default()
	return g
}

// Roll-outs that install servers anew take the right to wipe: to ask for them, and to have
// one go on. Whoever may change a group may stop one.
func TestReprovisionIsARight(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	disk := groupWith("disk", resource.RolloutReprovision)
	for _, row := range []struct {
		name, who string
		g         *resource.ServerGroup
		status    int
	}{
		{"operator", "operator", disk, http.StatusForbidden},
		{"another strategy", "operator", groupWith("disk", resource.RolloutOnNextBoot), http.StatusOK},
		{"changed to it", "operator", disk, http.StatusForbidden},
		{"admin", "admin", disk, http.StatusOK},
		{"as it was", "operator", disk, http.StatusOK},
	} {
		if got := ask(t, a, row.who, "PUT", "/v1/servergroups/disk", text(t, row.g)); got.status != row.status {
			t.Errorf("%s: %d %s", row.name, got.status, got.text)
		}
	}
	g, err := store.Get[*resource.ServerGroup](h.Store.Objects, "disk")
	if err != nil {
		t.Fatal(err)
	}
	g.Status.Rollout = &resource.RolloutStatus{Revision: 2, Strategy: resource.RolloutReprovision, Phase: resource.RolloutWave, Wave: 1, Waves: 4, Proved: true}
	if err := h.Store.Objects.Put(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, who, body string
		status          int
		code            protocol.Code
	}{
		{"next by an operator", "operator", `{"command":"next","reason":"late"}`, http.StatusForbidden, protocol.CodeDenied},
		{"next by an admin", "admin", `{"command":"next","reason":"late"}`, http.StatusOK, ""},
		{"pause by an operator", "operator", `{"command":"pause","reason":"alarm"}`, http.StatusOK, ""},
		{"a second pause", "operator", `{"command":"pause","reason":"alarm"}`, http.StatusConflict, protocol.CodeConflict},
		{"resume by an operator", "operator", `{"command":"resume","reason":"over"}`, http.StatusForbidden, protocol.CodeDenied},
		{"a fencer", "fencer", `{"command":"pause","reason":"alarm"}`, http.StatusForbidden, protocol.CodeDenied},
		{"without a reason", "admin", `{"command":"resume"}`, http.StatusBadRequest, protocol.CodeInvalid},
		{"another word", "admin", `{"command":"stop","reason":"x"}`, http.StatusBadRequest, protocol.CodeInvalid},
		{"resume by an admin", "admin", `{"command":"resume","reason":"over"}`, http.StatusOK, ""},
		{"abort by an operator", "operator", `{"command":"abort","reason":"over"}`, http.StatusOK, ""},
	} {
		got := ask(t, a, row.who, "POST", protoapi.PathRollout("disk"), row.body)
		if got.status != row.status || row.code != "" && got.problem.Code != row.code {
			t.Errorf("%s: %d %s", row.name, got.status, got.text)
		}
	}
}
