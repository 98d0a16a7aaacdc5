package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"rackboot/hub/api"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestSchemas: each kind that people write has its schema, that anybody may read, and no other has one.
func TestSchemas(t *testing.T) {
	a, _ := handler(t, func(*api.Config) {})
	for _, kind := range append(resource.Kinds(), "") {
		got := ask(t, a, "", http.MethodGet, protoapi.PathSchema(kind), "")
		if kind != "" && !kind.Appliable() {
			if got.status != http.StatusNotFound {
				t.Errorf("%s: status %d", kind, got.status)
			}
			continue
		}
		var schema struct {
			Schema string `json:"$schema"`
			ID     string `json:"$id"`
		}
		want := "urn:rackboot:v1:" + string(kind)
		if kind == "" {
			want += "manifest"
		}
		if err := json.Unmarshal([]byte(got.text), &schema); err != nil || got.status != http.StatusOK || schema.ID != want || schema.Schema != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%q: status %d, %+v, %v", kind, got.status, schema, err)
		}
	}
	if got := ask(t, a, "", http.MethodGet, protoapi.PathSchemas+"../v1/racks", ""); got.status == http.StatusOK {
		t.Errorf("a path out of the schemas: %d", got.status)
	}
	if got := ask(t, a, "", http.MethodPost, protoapi.PathSchema("Rack"), "{}"); got.status != http.StatusUnauthorized {
		t.Errorf("a write: %d", got.status)
	}
}
