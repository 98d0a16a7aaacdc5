package api

import (
	"net/http"

	"rackboot/configs/schemas"
	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// schemaFiles serves the JSON Schemas of kinds, which are no secret: editors and checks of repositories
// read them without a token.
type schemaFiles struct{}

func (schemaFiles) routes(t *route.Table) {
	serve := func(kind resource.Kind, schema []byte) {
		t.Handle("GET "+protoapi.PathSchema(kind), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/schema+json")
			w.Write(schema) //nolint:errcheck // the client is gone
		})
	}
	serve("", schemas.Any())
	for _, kind := range resource.Kinds() {
		if schema, ok := schemas.Of(kind); ok {
			serve(kind, schema)
		}
	}
}
