package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// judge lets a request pass that its caller may send. What a caller may not see does not
// exist for it; what it may not change is denied, whether it exists or not.
func (a *API) judge(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	route := a.rules[ctx.Operation().OperationID]
	if route.open {
		next(ctx)
		return
	}
	if err := a.may(r, route); err != nil {
		a.Denied(r, entryOf(r, ctx.Operation(), route), err)
		writeProblem(w, protoapi.ProblemOf(err))
		return
	}
	next(ctx)
}

// hurry has background work give way to who places or releases a hold.
func hurry(rules map[string]rule, haste *store.Haste) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if rules[ctx.Operation().OperationID].hold {
			defer haste.Hurry()()
		}
		next(ctx)
	}
}

func (a *API) may(r *http.Request, route rule) error {
	who := caller(r.Context())
	if route.target == findEach || route.target == findNone {
		if !access.MayAnywhere(who, route.op) {
			return denied(who, route.op, access.DeniedRole, "")
		}
		return nil
	}
	// What is judged is found only where the verdict depends on it.
	places, what := []access.Labels(nil), ""
	if !who.Scope.Everywhere() {
		places, what = a.placesOf(r, route)
	}
	switch v := access.May(who, route.op, access.Target{Places: places}); {
	case v == access.Allowed:
		return nil
	case v == access.DeniedScope && route.op == access.Read && route.kind != "":
		return absent(route.kind, r.PathValue("name"))
	case v == access.DeniedScope && route.op == access.Read && route.target == findRequest:
		return protocol.Errorf(protocol.CodeNotFound, "get request", "request %q does not exist", r.PathValue("id")).
			WithHint("requests are forgotten some time after they ended")
	default:
		return denied(who, route.op, v, what)
	}
}

// placesOf finds where the target of a route is; nowhere if it does not exist.
func (a *API) placesOf(r *http.Request, route rule) (places []access.Labels, what string) {
	w := newWorld(a.store)
	switch route.target {
	case findNamed:
		name := nameOf(r)
		what = string(route.kind) + " " + name
		if obj, err := a.store.GetObject(route.kind, name); err == nil {
			places = access.Places(obj, w)
		}
	case findRequest:
		if q, err := a.store.GetRequest(r.PathValue("id")); err == nil {
			places = []access.Labels{access.AtServer(w, q.Server)}
		}
	case findWhole, findEach, findNone:
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

// denied is the refusal of an operation; what may be empty.
func denied(who access.Caller, op access.Operation, v access.Verdict, what string) error {
	if op == "" {
		op = "do this"
	}
	if v == access.DeniedScope {
		if what == "" {
			what = "the hub as a whole"
		}
		return protocol.Errorf(protocol.CodeDenied, string(op), "%s is not in the scope of %q, which is %s", what, who.Name, who.Scope).
			WithHint("rackctl whoami shows what may be done; the scope is in clients of hub.yaml")
	}
	return protocol.Errorf(protocol.CodeDenied, string(op), "no role of %q has the right to %s", who.Name, op).
		WithHint("rackctl whoami shows what may be done; the roles are in clients of hub.yaml")
}

// change judges what Apply would store. It is asked under the lock of the store.
func (a *API) change(ctx context.Context, objs []resource.Object) func(old, next resource.Object) error {
	who, w := caller(ctx), newWorld(a.store, objs...)
	return func(old, next resource.Object) error {
		h := next.Head()
		op, t := access.On(access.Apply, h.Kind), access.Target{}
		if !who.Scope.Everywhere() {
			t.Places = access.Changed(old, next, w)
		}
		if v := access.May(who, op, t); v != access.Allowed {
			return denied(who, op, v, string(h.Kind)+" "+h.Metadata.Name)
		}
		if err := a.wipes(who, old, next, objs, t); err != nil {
			return err
		}
		if err := a.reprovisions(ctx, old, next); err != nil {
			return err
		}
		return a.names(who, op, old, next, objs)
	}
}

// visible leaves out what a caller may not see.
func visible[T any](a *API, who access.Caller, items []T, places func(T, access.World) []access.Labels) []T {
	if who.Scope.Everywhere() {
		return items
	}
	w := newWorld(a.store)
	out := make([]T, 0, len(items))
	for _, it := range items {
		if access.May(who, access.Read, access.Target{Places: places(it, w)}) == access.Allowed {
			out = append(out, it)
		}
	}
	return out
}
