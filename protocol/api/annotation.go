package api

import (
	"context"
	"net/http"

	"rackboot/protocol/resource"
)

// AnnotationRequest is a reboot annotation of metal3: reboot.metal3.io asks for one
// reboot, reboot.metal3.io/KEY for a hold. Value is JSON, or empty.
type AnnotationRequest struct {
	Annotation string `json:"annotation"`
	Value      string `json:"value,omitempty"`
	// Remove takes it away: the caller's hold with that key is released. A reboot that was asked
	// for cannot be taken away so.
	Remove bool `json:"remove,omitempty"`
}

// AnnotationAnswer is what the annotation became: one of the two. Unchanged says that it was so
// before.
type AnnotationAnswer struct {
	Unchanged bool           `json:"unchanged,omitempty"`
	Hold      *resource.Hold `json:"hold,omitempty"`
	Request   *RequestStatus `json:"request,omitempty"`
}

// PathAnnotations is the route that takes a reboot annotation of metal3, for a Server or a Claim.
func PathAnnotations(kind resource.Kind, name string) string {
	return PathObject(kind, name) + "/annotations"
}

// Annotate gives a Server, or a Claim's, a reboot annotation of metal3, or takes it away. Repeating
// it is safe but for one that asks for a reboot.
func (o Objects) Annotate(ctx context.Context, kind resource.Kind, name string, r AnnotationRequest) (out AnnotationAnswer, err error) {
	err = o.hub.call(ctx, http.MethodPost, PathAnnotations(kind, name), r, &out)
	return out, err
}
