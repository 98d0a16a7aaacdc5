package api_test

import (
	"net/http"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

func bootEnv(name string, destructive bool) *resource.BootEnv {
	e := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{Name: name}, Destructive: destructive}}
	e.Metadata.Name = name
	e.Default()
	return e
}

func maintenanceOf(env string) *resource.Maintenance {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n1"}, Reason: "sold", Boot: resource.MaintenanceBoot{BootEnv: &resource.Ref{Name: env}},
	}}
	m.Metadata.Name = "m1"
	m.Default()
	return m
}

// What discards disks takes the right to wipe, at whichever moment it is named.
func TestWipeIsARight(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	if _, err := h.Store.Sets.Apply(t.Context(), []resource.Object{bootEnv("wipe", true), bootEnv("memtest", false)}, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, who, method, path, body string
		status                        int
	}{
		{"operator", "operator", "PUT", "/v1/maintenances/m1", text(t, maintenanceOf("wipe")), http.StatusForbidden},
		{"in a scope", "row7", "PUT", "/v1/maintenances/m1", text(t, maintenanceOf("wipe")), http.StatusForbidden},
		{"described in the same set", "operator", "POST", "/v1/apply", applyBody(t, bootEnv("new", true), maintenanceOf("new")), http.StatusForbidden},
		{"another environment", "operator", "PUT", "/v1/maintenances/m1", text(t, maintenanceOf("memtest")), http.StatusOK},
		{"changed to it", "operator", "PUT", "/v1/maintenances/m1", text(t, maintenanceOf("wipe")), http.StatusForbidden},
		{"admin", "admin", "PUT", "/v1/maintenances/m1", text(t, maintenanceOf("wipe")), http.StatusOK},
	} {
		if got := ask(t, a, row.who, row.method, row.path, row.body); got.status != row.status {
			t.Errorf("%s: %d %s", row.name, got.status, got.text)
		}
	}
}

// A caller with a scope has no server of its own given what is in another's Secret: not by
// naming it, and not by naming a profile that does.
func TestParamsOfOthers(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	theirs := dataOf("theirs", "8")
	theirs.Spec.Type, theirs.Spec.Data = resource.SecretParams, resource.SecretData{"root/password": resource.Plain("x")}
	profile := &resource.Profile{Spec: resource.ProfileSpec{ParamsSecretRef: &resource.Ref{Name: "theirs"}}}
	profile.Metadata.Name = "theirs"
	profile.Default()
	if _, err := h.Store.Sets.Apply(t.Context(), []resource.Object{theirs, profile}, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	server := func(change func(*resource.ServerSpec)) string {
		s, err := store.Get[*resource.Server](h.Store.Objects, "n1")
		if err != nil {
			t.Fatal(err)
		}
		next := storetest.Server("n1", s.Spec.BMCRef.Name, s.Spec.SegmentRef.Name, s.Spec.BootMAC)
		next.Metadata.Labels, next.Spec.SystemURI = s.Metadata.Labels, s.Spec.SystemURI
		change(&next.Spec)
		return text(t, next)
	}
	for _, row := range []struct {
		name, who string
		change    func(*resource.ServerSpec)
		status    int
	}{
		{"Secret", "row7", func(s *resource.ServerSpec) { s.ParamsSecretRef = &resource.Ref{Name: "theirs"} }, http.StatusForbidden},
		{"profile", "row7", func(s *resource.ServerSpec) { s.Profiles = []string{"theirs"} }, http.StatusForbidden},
		{"own params", "row7", func(s *resource.ServerSpec) { s.Params = map[string]any{"a": "b"} }, http.StatusOK},
		{"without a scope", "operator", func(s *resource.ServerSpec) { s.Profiles = []string{"theirs"} }, http.StatusOK},
	} {
		if got := ask(t, a, row.who, "PUT", "/v1/servers/n1", server(row.change)); got.status != row.status {
			t.Errorf("%s: %d %s", row.name, got.status, got.text)
		}
	}
}
