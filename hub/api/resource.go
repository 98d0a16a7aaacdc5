package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

type noInput struct{}

type named struct {
	Name string `path:"name" doc:"metadata.name of the resource"`
}

type namedBody struct {
	Name    string `path:"name" doc:"metadata.name of the resource"`
	RawBody []byte `contentType:"application/json"`
}

type deleteInput struct {
	Name    string `path:"name" doc:"metadata.name of the resource"`
	IfMatch string `header:"If-Match" doc:"the ETag that the resource must have"`
}

type putInput struct {
	Name    string `path:"name" doc:"metadata.name of the resource"`
	IfMatch string `header:"If-Match" doc:"the ETag that the resource must have"`
	RawBody []byte `contentType:"application/json"`
}

type answer[T any] struct {
	Body T
}

func (a *API) registerResources() {
	registerKind[*resource.Rack](a)
	registerKind[*resource.Segment](a)
	registerKind[*resource.Param](a)
	registerKind[*resource.Profile](a)
	registerKind[*resource.Template](a)
	registerKind[*resource.BootEnv](a)
	registerKind[*resource.BootImage](a)
	registerKind[*resource.ManagedBootImages](a)
	registerKind[*resource.ServerGroup](a)
	registerKind[*resource.GroupRevision](a)
	registerKind[*resource.BMC](a)
	registerKind[*resource.Server](a)
	registerKind[*resource.Claim](a)
	registerKind[*resource.Maintenance](a)
	registerKind[*resource.Agent](a)
	registerKind[*resource.BootConfiguration](a)
	registerKind[*resource.Hold](a)
}

func registerKind[T resource.Object](a *API) {
	kind := resource.KindOf[T]()
	all, one := protoapi.PathKind(kind), protoapi.PathKind(kind)+"/{name}"

	huma.Register(a.huma, a.operation(http.MethodGet, all, "list"+string(kind), "List all, sorted by name", nil),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.List[T]], error) {
			items := visible(a, caller(ctx), store.Copies[T](a.store), func(obj T, w access.World) []access.Labels { return access.Places(obj, w) })
			for _, obj := range items {
				a.rooms.Status.Decorate(obj) // it is a copy
				brief(obj)
			}
			return &answer[protoapi.List[T]]{protoapi.List[T]{APIVersion: resource.APIVersion, Kind: string(kind) + "List", Items: items}}, nil
		})

	huma.Register(a.huma, a.operation(http.MethodGet, one, "get"+string(kind), "Read one", nil),
		func(_ context.Context, in *named) (*answer[T], error) {
			obj, err := store.Get[T](a.store, in.Name)
			return decorated(a, obj, err)
		})

	if kind != resource.KindClaim { // it has a query; see registerClaims
		huma.Register(a.huma, a.operation(http.MethodDelete, one, "delete"+string(kind), "Delete", nil),
			func(ctx context.Context, in *deleteInput) (*answer[T], error) {
				guards, err := unless(in.IfMatch)
				if err != nil {
					return nil, err
				}
				obj, err := a.store.Delete(ctx, kind, in.Name, guards...)
				if err != nil {
					return nil, problem(err)
				}
				return decorated(a, obj.(T), nil)
			})
	}

	if !kind.Appliable() {
		return
	}
	op := a.operation(http.MethodPut, one, "put"+string(kind), "Create, or change the spec", reflect.TypeFor[T]().Elem())
	register(a, op, func(ctx context.Context, in *putInput) (*answer[T], error) {
		obj, wrong := object(in.RawBody)
		if len(wrong) == 0 {
			h := obj.Head()
			switch {
			case h.Kind != kind:
				wrong = protocol.FieldErrors{{Path: "kind", Message: "is not the kind of the URL, " + string(kind)}}
			case h.Metadata.Name != in.Name:
				wrong = protocol.FieldErrors{{Path: "metadata.name", Message: "is not the name of the URL, " + in.Name}}
			}
		}
		if len(wrong) > 0 {
			return nil, problem(protocol.Errorf(protocol.CodeInvalid, "put "+string(kind), "%w", wrong).
				WithHint("nothing was changed; correct the fields that are named"))
		}
		if err := expect(in.IfMatch, &obj.Head().Metadata); err != nil {
			return nil, err
		}
		objs := []resource.Object{obj}
		res, err := a.store.Apply(ctx, objs, store.ApplyOptions{By: caller(ctx).Name, Guard: a.change(ctx, objs)})
		if err != nil {
			return nil, failed(in.IfMatch, err)
		}
		return decorated(a, res[0].Object.(T), nil)
	})
}

// brief leaves out of a resource what is too long for a list of many thousands.
func brief(obj resource.Object) {
	if b, ok := obj.(*resource.BMC); ok {
		for i, inv := range b.Status.Inventory {
			b.Status.Inventory[i] = inv.Brief()
		}
	}
}

// decorated answers with a resource as people shall see it.
func decorated[T resource.Object](a *API, obj T, err error) (*answer[T], error) {
	if err != nil {
		return nil, problem(err)
	}
	a.rooms.Status.Decorate(obj)
	return &answer[T]{obj}, nil
}

// Status says what is so.
type Status interface {
	// Decorate fills the status of a resource from reports, for printing.
	Decorate(obj resource.Object)
	// Doctor says what stands against an upgrade.
	Doctor() protoapi.DoctorAnswer
	// RenderEnv makes what a server would be served of a boot environment, empty for its
	// own, with secrets masked; path is empty for all files.
	RenderEnv(ctx context.Context, server, env, path string) (protoapi.EnvRender, error)
}
