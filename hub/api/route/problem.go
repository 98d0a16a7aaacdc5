package route

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// Problem turns an error of a handler into what huma writes as it is; nil into nil.
func Problem(err error) error {
	if err == nil {
		return nil
	}
	p := protoapi.ProblemOf(err)
	if list, ok := errors.AsType[store.ApplyErrors](err); ok {
		p.Detail = fmt.Sprintf("%d of the resources cannot be applied", len(list))
		p.Errors = nil
		for _, e := range list {
			for _, f := range e.FieldErrors {
				p.Errors = append(p.Errors, protoapi.FieldProblem{Index: e.Index, Kind: e.Kind, Name: e.Name, Path: f.Path, Message: f.Message})
			}
		}
	}
	return p
}

// problemTransformer gives huma's own errors (a body that is too long, a query
// parameter that is no number) the form of ours.
func problemTransformer(_ huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	code := protocol.CodeFromHTTP(m.Status)
	if m.Status >= 400 && m.Status < 500 {
		code = protocol.CodeInvalid
	}
	p := protoapi.ProblemOf(protocol.Errorf(code, "read request", "%s", m.Detail).
		WithHint("%s describes the request", protoapi.PathOpenAPI)).WithStatus(m.Status)
	for _, d := range m.Errors {
		p.Errors = append(p.Errors, protoapi.FieldProblem{Path: d.Location, Message: d.Message})
	}
	return p, nil
}

// WriteProblem answers with a problem where huma does not.
func WriteProblem(w http.ResponseWriter, p *protoapi.Problem) {
	w.Header().Set("Content-Type", protoapi.ProblemType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p) //nolint:errcheck // the client is gone
}

// Unread ends the connection of a request whose body is not read. Else the server would
// wait for it before it answers.
func Unread(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}
