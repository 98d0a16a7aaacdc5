package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Get reads the resource of type T.
func Get[T resource.Object](ctx context.Context, c *Client, name string) (T, error) {
	var none T
	obj, err := c.Objects.Get(ctx, resource.KindOf[T](), name)
	if err != nil {
		return none, err
	}
	return obj.(T), nil
}

// GetAll reads all resources of type T, sorted by name; see [Objects.List].
func GetAll[T resource.Object](ctx context.Context, c *Client) ([]T, error) {
	objs, err := c.Objects.List(ctx, resource.KindOf[T]())
	if len(objs) == 0 {
		return nil, err
	}
	out := make([]T, len(objs))
	for i, o := range objs {
		out[i] = o.(T)
	}
	return out, err
}

// Objects are the resources of every kind.
type Objects struct{ hub *hub }

// Get reads a resource of the kind.
func (o Objects) Get(ctx context.Context, kind resource.Kind, name string) (resource.Object, error) {
	obj, err := blank(kind)
	if err != nil {
		return nil, err
	}
	return obj, o.hub.call(ctx, http.MethodGet, PathObject(kind, name), nil, obj)
}

// List reads all resources of the kind, sorted by the bytes of their names. They are asked for page by page,
// as [Objects.Pages] has it. With an [IncompleteError] it returns those that are left.
func (o Objects) List(ctx context.Context, kind resource.Kind) ([]resource.Object, error) {
	out := []resource.Object{}
	var lacks error
	for p, err := range o.Pages(ctx, kind, Query{}) {
		if _, incomplete := errors.AsType[*IncompleteError](err); err != nil && !incomplete {
			return nil, err
		}
		out, lacks = append(out, p.Objects...), err
	}
	slices.SortFunc(out, func(a, b resource.Object) int {
		return strings.Compare(a.Head().Metadata.Name, b.Head().Metadata.Name)
	})
	return out, lacks
}

// Apply writes a set of resources, all or after a failure some; see
// [ApplyRequest]. Repeating it is safe.
func (o Objects) Apply(ctx context.Context, objs []resource.Object, dryRun bool) (out ApplyAnswer, err error) {
	req := ApplyRequest{DryRun: dryRun, Objects: make([]json.RawMessage, len(objs))}
	for i, o := range objs {
		raw, err := reveal(o)
		if err != nil {
			return out, protocol.Errorf(protocol.CodeInternal, "encode request", "%w", err)
		}
		req.Objects[i] = raw
	}
	err = o.hub.call(ctx, http.MethodPost, PathApply, req, &out)
	return out, err
}

// Delete asks to delete a resource and returns it as it is now: a Claim stays
// until its server was proved Off.
func (o Objects) Delete(ctx context.Context, kind resource.Kind, name string) (resource.Object, error) {
	obj, err := blank(kind)
	if err != nil {
		return nil, err
	}
	return obj, o.hub.call(ctx, http.MethodDelete, PathObject(kind, name), nil, obj)
}

// DeleteClaim deletes a claim. Holds on its server refuse that, unless release is the
// reason why they are all released.
func (o Objects) DeleteClaim(ctx context.Context, name, release string) (*resource.Claim, error) {
	path := PathObject(resource.KindClaim, name)
	if release != "" {
		path += "?" + url.Values{QueryReleaseHolds: {release}}.Encode()
	}
	var out resource.Claim
	return &out, o.hub.call(ctx, http.MethodDelete, path, nil, &out)
}

// DeleteBootImage deletes an entry of a catalogue, with force also one that is the current image of
// groups.
func (o Objects) DeleteBootImage(ctx context.Context, name string, force bool) (*resource.BootImage, error) {
	path := PathObject(resource.KindBootImage, name)
	if force {
		path += "?" + url.Values{QueryForce: {"true"}}.Encode()
	}
	var out resource.BootImage
	return &out, o.hub.call(ctx, http.MethodDelete, path, nil, &out)
}

// Ready is nil when the hub is ready to serve.
func (c *Client) Ready(ctx context.Context) error {
	return c.hub.call(ctx, http.MethodGet, PathReady, nil, nil)
}

// reveal is a resource as it is written: of a Secret with its data, which no other
// form has.
func reveal(o resource.Object) ([]byte, error) {
	if s, ok := o.(*resource.Secret); ok {
		return s.Reveal()
	}
	return json.Marshal(o)
}

func blank(kind resource.Kind) (resource.Object, error) {
	obj := resource.NewObject(kind)
	if obj == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "name resource", "%q is not a kind", kind)
	}
	return obj, nil
}
