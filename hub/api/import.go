package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// imports takes what another hub exported.
type imports struct{ room Imports }

func (im imports) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathImport, "import",
		"Take what another hub exported, each object whole or not at all; idempotent", reflect.TypeFor[protoapi.ImportRequest](),
		route.Rule{Right: access.Import, Target: route.TargetWhole})
	op.MaxBodyBytes = protoapi.MaxImport + 1
	route.Register(t, op, im.importObjects)
}

func (im imports) importObjects(ctx context.Context, in *bodyInput) (*answer[protoapi.ImportAnswer], error) {
	var req protoapi.ImportRequest
	if err := route.Body("import", in.RawBody, &req); err != nil {
		return nil, err
	}
	objs, refused, err := importedObjects(req)
	if err != nil {
		return nil, route.Problem(err)
	}
	out, err := im.room.Import(ctx, objs, req, route.Caller(ctx).Name)
	if err != nil {
		return nil, route.Problem(err)
	}
	all := &answer[protoapi.ImportAnswer]{protoapi.ImportAnswer{Keys: out.Keys, Results: refused}}
	next := 0
	for i := range all.Body.Results { // those that could be read are in their places
		if all.Body.Results[i].Outcome == "" && next < len(out.Results) {
			all.Body.Results[i], next = out.Results[next], next+1
		}
	}
	return all, nil
}

// importedObjects decodes the objects of an import. refused has a result for each; that
// of one that was decoded is empty.
func importedObjects(req protoapi.ImportRequest) (objs []resource.Object, refused []protoapi.ImportResult, err error) {
	const op = "import"
	if strings.TrimSpace(req.Reason) == "" || len(req.Reason) > protoapi.MaxReason {
		return nil, nil, protocol.Errorf(protocol.CodeInvalid, op, "say in 1 to %d bytes why", protoapi.MaxReason).WithHint("add --reason")
	}
	if len(req.Objects) > protoapi.MaxImportObjects {
		return nil, nil, protocol.Errorf(protocol.CodeInvalid, op, "there are %d objects, and %d is the most at once", len(req.Objects), protoapi.MaxImportObjects).
			WithHint("export rack by rack: rackctl export --rack RACK")
	}
	refused = make([]protoapi.ImportResult, len(req.Objects))
	for i, raw := range req.Objects {
		obj, wrong := route.Object(raw)
		if obj != nil {
			for name := range resource.TakeReboots(obj) {
				wrong = append(wrong, protocol.FieldError{Path: "metadata.annotations[" + name + "]", Message: "an import neither holds nor reboots; leave it out, and annotate the object here: rackctl annotate"})
			}
		}
		if len(wrong) == 0 {
			objs = append(objs, obj)
			continue
		}
		refused[i] = protoapi.ImportResult{Name: fmt.Sprintf("object %d", i), Outcome: protoapi.ImportRefused, Message: wrong.Error()}
		if obj != nil {
			refused[i].Kind, refused[i].Name = obj.Head().Kind, obj.Head().Metadata.Name
		}
	}
	return objs, refused, nil
}

// Imports takes what another hub exported.
type Imports interface {
	// Import stores objects, which are its own from then on.
	Import(ctx context.Context, objs []resource.Object, r protoapi.ImportRequest, by string) (protoapi.ImportAnswer, error)
}
