package api_test

import (
	"net/http"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func dataOf(name, row string) *resource.Secret {
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretIgnition, Data: resource.SecretData{resource.SecretUserData: resource.Plain(`{"ignition":{"version":"3.4.0"}}`)}}}
	s.Metadata.Name = name
	if row != "" {
		s.Metadata.Labels = map[string]string{"row": row}
	}
	s.Default()
	return s
}

func claimOf(secret string) *resource.Claim {
	c := storetest.Claim("c1", "n1")
	c.Spec.IgnitionSecretRef = &resource.Ref{Name: secret}
	return c
}

func maintenanceWith(secret string) *resource.Maintenance {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n1"}, Reason: "BIOS", Boot: resource.MaintenanceBoot{Image: "r/fw:1", IgnitionSecretRef: &resource.Ref{Name: secret}},
	}}
	m.Metadata.Name = "m1"
	m.Default()
	return m
}

func bareMaintenance() *resource.Maintenance {
	m := maintenanceWith("")
	m.Spec.Boot.IgnitionSecretRef = nil
	return m
}

// The attacker has a scope, and names another's user data to have its own server given
// it. Only a Secret whose labels are in the scope may be named, and nobody but an admin
// gives one labels; what a claim names already is not judged again.
func TestUserDataOfOthers(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	objs := []resource.Object{dataOf("mine", "7"), dataOf("theirs", "8"), dataOf("nobodys", "")}
	if _, err := h.Store.Sets.Apply(t.Context(), objs, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, who, method, path, body string
		status                        int
	}{
		{"another's", "row7", "PUT", "/v1/claims/c1", text(t, claimOf("theirs")), http.StatusForbidden},
		{"another's, in a dry run", "row7", "POST", "/v1/apply", `{"dryRun":true,` + applyBody(t, claimOf("theirs"))[1:], http.StatusForbidden},
		{"one without labels", "row7", "PUT", "/v1/claims/c1", text(t, claimOf("nobodys")), http.StatusForbidden},
		{"one that is not there", "row7", "PUT", "/v1/claims/c1", text(t, claimOf("none")), http.StatusForbidden},
		{"another's with labels of its own", "row7", "POST", "/v1/apply", applyBody(t, dataOf("theirs", "7"), claimOf("theirs")), http.StatusForbidden},
		{"its own", "row7", "PUT", "/v1/claims/c1", text(t, claimOf("mine")), http.StatusOK},
		{"any, without a scope", "operator", "PUT", "/v1/claims/c1", text(t, claimOf("theirs")), http.StatusOK},
		{"the same again", "row7", "PUT", "/v1/claims/c1", text(t, claimOf("theirs")), http.StatusOK},
		{"another's in a maintenance", "row7", "PUT", "/v1/maintenances/m1", text(t, maintenanceWith("theirs")), http.StatusForbidden},
		{"its own in a maintenance", "row7", "PUT", "/v1/maintenances/m1", text(t, maintenanceWith("mine")), http.StatusOK},
		{"by a viewer", "viewer", "PUT", "/v1/claims/c1", text(t, claimOf("mine")), http.StatusForbidden},
	} {
		if got := ask(t, a, row.who, row.method, row.path, row.body); got.status != row.status {
			t.Errorf("%s: %d %s", row.name, got.status, got.text)
		}
	}
}

// Sealed user data is for agents by their certificates: no token of a caller gets it, and
// nobody without one.
func TestSealedUserDataIsForAgents(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	const digest = `{"sealed":"sha256:5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"}`
	for _, who := range []string{"", "admin", "viewer", "operator", "fencer", "row7"} {
		for _, path := range []string{protoapi.PathIgnition, protoapi.PathEnvBundle} {
			if got := ask(t, a, who, http.MethodPost, path, digest); got.status != http.StatusForbidden || got.problem.Code != protocol.CodeDenied {
				t.Errorf("%q: %d %s", who, got.status, got.text)
			}
			if got := ask(t, a, who, http.MethodPost, path, `{"sealed":"../x"}`); got.status != http.StatusBadRequest {
				t.Errorf("%q: %d %s", who, got.status, got.text)
			}
		}
	}
}
