package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// operation describes one route. body is the type of the request's body, of
// which huma only learns the schema; nil for no body.
func (a *API) operation(method, path, id, summary string, body reflect.Type) huma.Operation {
	schemas := a.huma.OpenAPI().Components.Schemas
	op := huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary,
		MaxBodyBytes:     protoapi.MaxBody + 1, // which is the least that is refused; read is before
		SkipValidateBody: true,                 // the handlers decode strictly; Validate judges
		Responses: map[string]*huma.Response{"default": {
			Description: "A problem (RFC 9457)",
			Content: map[string]*huma.MediaType{protoapi.ProblemType: {
				Schema: schemas.Schema(reflect.TypeFor[protoapi.Problem](), true, ""),
			}},
		}},
	}
	if path != protoapi.PathJoin {
		op.Security = []map[string][]string{{"token": {}}, {"certificate": {}}}
	}
	if right := a.rules[id].op; right != "" {
		op.Extensions = map[string]any{"x-rackboot-right": string(right)}
	}
	if method != http.MethodGet && path != protoapi.PathJoin {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: protoapi.HeaderIdempotencyKey, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(maxKey)},
			Description: "names the intent: the same request with the same key, by the same caller, is acted on once and answered alike for a day",
		})
	}
	if body != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: schemas.Schema(body, true, "")},
		}}
	}
	return op
}

// register is huma.Register for an operation with a body that the handler
// decodes itself. Huma documents such a body as binary, so the schema is put
// back.
func register[I, O any](a *API, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	media := *op.RequestBody.Content["application/json"]
	huma.Register(a.huma, op, handler)
	op.RequestBody.Content["application/json"] = &media
}

// registerOpenAPI serves the document of all routes registered before, which is written
// at the first request. Huma's own route does that without a lock.
func (a *API) registerOpenAPI() {
	document := sync.OnceValues(func() ([]byte, error) { return json.Marshal(a.huma.OpenAPI()) })
	a.mux.HandleFunc("GET "+protoapi.PathOpenAPI, func(w http.ResponseWriter, _ *http.Request) {
		doc, err := document()
		if err != nil {
			writeProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeInternal, "describe the routes", "%w", err)))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		w.Write(doc) //nolint:errcheck // the client is gone
	})
}
