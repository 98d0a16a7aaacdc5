package gate

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// judge lets callers do what they may.
type judge struct {
	objects  *store.Objects
	requests *store.Requests
	table    *route.Table
	ledger   *ledger
}

// judge lets a request pass that its caller may send. What a caller may not see does not
// exist for it; what it may not change is denied, whether it exists or not.
func (j judge) judge(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	rule := j.table.Rule(ctx.Operation().OperationID)
	if rule.Open {
		next(ctx)
		return
	}
	if err := j.may(r, rule); err != nil {
		j.ledger.denied(r, entryOf(r, ctx.Operation(), rule), err)
		route.WriteProblem(w, protoapi.ProblemOf(err))
		return
	}
	next(ctx)
}

// hurry has background work give way to who places or releases a hold.
func hurry(table *route.Table, haste *store.Haste) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if table.Rule(ctx.Operation().OperationID).Hold {
			defer haste.Hurry()()
		}
		next(ctx)
	}
}

func (j judge) may(r *http.Request, rule route.Rule) error {
	who := route.Caller(r.Context())
	if rule.Target == route.TargetEach || rule.Target == route.TargetNone {
		if !access.MayAnywhere(who, rule.Right) {
			return route.Denied(who, rule.Right, access.DeniedRole, "")
		}
		return nil
	}
	// What is judged is found only where the verdict depends on it.
	places, what := []access.Labels(nil), ""
	if !who.Scope.Everywhere() {
		places, what = j.placesOf(r, rule)
	}
	switch v := access.May(who, rule.Right, access.Target{Places: places}); {
	case v == access.Allowed:
		return nil
	case v == access.DeniedScope && rule.Right == access.Read && rule.Kind != "":
		return absent(rule.Kind, r.PathValue("name"))
	case v == access.DeniedScope && rule.Right == access.Read && rule.Target == route.TargetRequest:
		return protocol.Errorf(protocol.CodeNotFound, "get request", "request %q does not exist", r.PathValue("id")).
			WithHint("requests are forgotten some time after they ended")
	default:
		return route.Denied(who, rule.Right, v, what)
	}
}

// placesOf finds where the target of a route is; nowhere if it does not exist.
func (j judge) placesOf(r *http.Request, rule route.Rule) (places []access.Labels, what string) {
	w := route.NewWorld(j.objects)
	switch rule.Target {
	case route.TargetNamed:
		name := nameOf(r)
		what = string(rule.Kind) + " " + name
		if obj, err := j.objects.Get(rule.Kind, name); err == nil {
			places = access.Places(obj, w)
		}
	case route.TargetRequest:
		if q, err := j.requests.Get(r.PathValue("id")); err == nil {
			places = []access.Labels{access.AtServer(w, q.Server)}
		}
	case route.TargetWhole, route.TargetEach, route.TargetNone:
	}
	return places, what
}

// nameOf is the name in the path of a request: the id of a hold is its name.
func nameOf(r *http.Request) string {
	if id := r.PathValue("id"); id != "" {
		return id
	}
	return r.PathValue("name")
}

func absent(kind resource.Kind, name string) error {
	return protocol.Errorf(protocol.CodeNotFound, "get", "%s %q does not exist", kind, name).
		WithHint("rackctl get %s lists what there is", kind.Plural())
}
