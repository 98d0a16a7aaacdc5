package route

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// MaxKey bounds an idempotency key in bytes.
const MaxKey = 128

// Table has the routes of the API, each with its rule and its handler. It is filled once, and then
// safe for concurrent use.
type Table struct {
	mux   *http.ServeMux
	huma  huma.API
	rules map[string]Rule // by operation id
}

// NewTable makes an empty table. version is the hub's, for the OpenAPI document.
func NewTable(version string) *Table {
	mux := http.NewServeMux()
	return &Table{mux: mux, rules: map[string]Rule{}, huma: humago.New(mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			Info: &huma.Info{Title: "Rackboot hub", Version: version},
			Components: &huma.Components{SecuritySchemes: map[string]*huma.SecurityScheme{
				"token":       {Type: "http", Scheme: "bearer"},
				"certificate": {Type: "mutualTLS"},
			}},
		},
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{problemTransformer, etag, trim},
	})}
}

// Use has requests pass through middlewares before their handlers. It is of routes that are
// registered afterwards.
func (t *Table) Use(middlewares ...func(huma.Context, func(huma.Context))) {
	t.huma.UseMiddleware(middlewares...)
}

// Rule returns the rule of a route by its operation id; the zero Rule if there is no such route.
func (t *Table) Rule(id string) Rule { return t.rules[id] }

// Rules returns a copy of the rules by operation id.
func (t *Table) Rules() map[string]Rule { return maps.Clone(t.rules) }

// ServeHTTP implements http.Handler: it has the handler of a request's route answer.
func (t *Table) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.mux.ServeHTTP(w, r) }

// Schema returns the schema of a type, which is in the document from now on.
func (t *Table) Schema(of reflect.Type) *huma.Schema {
	return t.huma.OpenAPI().Components.Schemas.Schema(of, true, "")
}

// Operation describes one route. body is the type of the request's body, of
// which huma only learns the schema; nil for no body.
func (t *Table) Operation(method, path, id, summary string, body reflect.Type, rule Rule) huma.Operation {
	t.rules[id] = rule
	schemas := t.huma.OpenAPI().Components.Schemas
	op := huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary,
		MaxBodyBytes:     protoapi.MaxBody + 1, // which is the least that is refused; it is read before
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
	if rule.Right != "" {
		op.Extensions = map[string]any{"x-rackboot-right": string(rule.Right)}
	}
	if method != http.MethodGet && path != protoapi.PathJoin {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: protoapi.HeaderIdempotencyKey, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(MaxKey)},
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

// Register gives an operation its handler. Huma documents a body that the handler
// decodes itself as binary, so the schema of one in JSON is put back.
func Register[I, O any](t *Table, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	if op.RequestBody != nil {
		if media := op.RequestBody.Content["application/json"]; media != nil {
			kept := *media
			defer func() { op.RequestBody.Content["application/json"] = &kept }()
		}
	}
	huma.Register(t.huma, op, handler)
}

// Handle adds a route that needs no right and is not in the OpenAPI document. pattern is one of
// http.ServeMux.
func (t *Table) Handle(pattern string, handler http.HandlerFunc) { t.mux.HandleFunc(pattern, handler) }

// HandleDocument serves the OpenAPI document of the table, which is written
// at the first request. Huma's own route does that without a lock.
func (t *Table) HandleDocument() {
	document := sync.OnceValues(func() ([]byte, error) {
		if err := describe(t.huma.OpenAPI()); err != nil {
			return nil, err
		}
		return json.Marshal(t.huma.OpenAPI())
	})
	t.Handle("GET "+protoapi.PathOpenAPI, func(w http.ResponseWriter, _ *http.Request) {
		doc, err := document()
		if err != nil {
			WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeInternal, "describe the routes", "%w", err)))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		w.Write(doc) //nolint:errcheck // the client is gone
	})
}
