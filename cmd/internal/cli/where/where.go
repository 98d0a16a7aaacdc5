package where

import (
	"context"
	"errors"
	"slices"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// Racks knows the racks of resources. The zero Racks knows those that a resource names itself.
type Racks struct {
	labels   map[string]map[string]string // of racks
	segments map[string]string            // racks
	servers  map[string]string            // segments
	// of are the racks that a hub has named, by resource.
	of map[resource.Object]string
}

// Of is the rack of a resource; empty where it is in none, or its rack is not known.
func (r Racks) Of(o resource.Object) string {
	if rack, named := r.of[o]; named {
		return rack
	}
	return selector.RackOf(o, r)
}

// Labels are the labels that selectors look at: those of the resource, and those of its rack that it has
// none of.
func (r Racks) Labels(o resource.Object) map[string]string {
	return selector.Labels(o, r.labels[r.Of(o)])
}

// Add notes the racks that a hub has named for the resources of a page.
func (r *Racks) Add(p api.Page) {
	if r.of == nil {
		r.of = make(map[resource.Object]string, len(p.Racks))
	}
	for i, rack := range p.Racks {
		r.of[p.Objects[i]] = rack
	}
}

// With returns the racks that a hub has named in others, with these labels.
func (r Racks) With(others Racks) Racks {
	r.of = others.of
	return r
}

// Labelled asks a hub for the labels of racks, and for nothing else: where resources are comes with their
// pages.
func Labelled(ctx context.Context, c *api.Client) (Racks, error) {
	r := Racks{labels: map[string]map[string]string{}}
	racks, err := rest(api.GetAll[*resource.Rack](ctx, c))
	for _, o := range racks {
		r.labels[o.Metadata.Name] = o.Metadata.Labels
	}
	return r, err
}

// Load asks a hub for what the racks of resources of a kind follow from. What the hub says is incomplete
// leaves racks unknown.
func Load(ctx context.Context, c *api.Client, kind resource.Kind) (Racks, error) {
	r, err := Labelled(ctx, c)
	if err != nil {
		return r, err
	}
	r.segments, r.servers = map[string]string{}, map[string]string{}
	if !slices.Contains([]resource.Kind{resource.KindServer, resource.KindClaim, resource.KindHold, resource.KindMaintenance, resource.KindBootConfiguration}, kind) {
		return r, nil
	}
	segments, err := rest(api.GetAll[*resource.Segment](ctx, c))
	if err != nil {
		return r, err
	}
	for _, o := range segments {
		r.segments[o.Metadata.Name] = o.Spec.RackRef.Name
	}
	if kind == resource.KindServer {
		return r, nil
	}
	servers, err := rest(api.GetAll[*resource.Server](ctx, c))
	for _, o := range servers {
		r.servers[o.Metadata.Name] = o.Spec.SegmentRef.Name
	}
	return r, err
}

// Known are the racks of servers that follow from racks and segments which somebody has read.
func Known(racks []*resource.Rack, segments []*resource.Segment) Racks {
	r := Racks{labels: map[string]map[string]string{}, segments: map[string]string{}, servers: map[string]string{}}
	for _, o := range racks {
		r.labels[o.Metadata.Name] = o.Metadata.Labels
	}
	for _, o := range segments {
		r.segments[o.Metadata.Name] = o.Spec.RackRef.Name
	}
	return r
}

// rest is a list also where it is incomplete.
func rest[T any](list []T, err error) ([]T, error) {
	if _, incomplete := errors.AsType[*api.IncompleteError](err); incomplete {
		return list, nil
	}
	return list, err
}

// SegmentRack implements selector.Site.
func (r Racks) SegmentRack(segment string) string { return r.segments[segment] }

// ServerSegment implements selector.Site.
func (r Racks) ServerSegment(server string) string { return r.servers[server] }
