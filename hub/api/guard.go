package api

import (
	"context"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// guard judges what Apply would store of objs. It is asked under the lock of the store.
func guard(ctx context.Context, objects *store.Objects, objs []resource.Object) func(old, next resource.Object) error {
	who, w := route.Caller(ctx), route.NewWorld(objects, objs...)
	return func(old, next resource.Object) error {
		h := next.Head()
		op, t := access.On(access.Apply, h.Kind), access.Target{}
		if !who.Scope.Everywhere() {
			t.Places = access.Changed(old, next, w)
		}
		if v := access.May(who, op, t); v != access.Allowed {
			return route.Denied(who, op, v, string(h.Kind)+" "+h.Metadata.Name)
		}
		if err := wipes(objects, who, old, next, objs, t); err != nil {
			return err
		}
		if err := settles(who, old, next, t); err != nil {
			return err
		}
		if err := reprovisions(ctx, old, next); err != nil {
			return err
		}
		return names(objects, who, op, old, next, objs)
	}
}
