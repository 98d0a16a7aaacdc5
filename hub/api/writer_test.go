package api_test

import (
	"net/http"
	"testing"

	"rackboot/hub/api"
	"rackboot/protocol/resource"
)

// A boot configuration has one writer, the hub's control: nobody creates, changes or
// deletes one over the API, whatever they may do otherwise.
func TestBootConfigurationsAreTheHubs(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	now := resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "n1", Owner: resource.Owner{Kind: resource.PurposeClaim, UID: "u"}}}
	now.Metadata.Name = "c1"
	now.Default()
	if err := h.Store.Objects.Put(t.Context(), &now); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ method, path, body string }{
		{"PUT", "/v1/bootconfigurations/c1", text(t, &now)},
		{"PUT", "/v1/bootconfigurations/c9", text(t, &now)},
		{"POST", "/v1/apply", applyBody(t, &now)},
		{"DELETE", "/v1/bootconfigurations/c1", ""},
	} {
		if got := ask(t, a, "admin", row.method, row.path, row.body); got.status < http.StatusBadRequest || got.status >= http.StatusInternalServerError {
			t.Errorf("%s %s: %d %s", row.method, row.path, got.status, got.text)
		}
	}
	if got := ask(t, a, "admin", http.MethodGet, "/v1/bootconfigurations/c1", ""); got.status != http.StatusOK {
		t.Errorf("it is not there any more: %d %s", got.status, got.text)
	}
}
