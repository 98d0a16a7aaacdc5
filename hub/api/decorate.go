package api

import (
	"rackboot/hub/api/route"
	"rackboot/protocol/resource"
)

// Decorator shows resources as people shall see them.
type Decorator interface {
	// Decorate fills the status of a resource from reports, for printing.
	Decorate(obj resource.Object)
}

// decorated answers with a resource as people shall see it.
func decorated[T resource.Object](status Decorator, obj T, err error) (*answer[T], error) {
	if err != nil {
		return nil, route.Problem(err)
	}
	status.Decorate(obj)
	return &answer[T]{obj}, nil
}
