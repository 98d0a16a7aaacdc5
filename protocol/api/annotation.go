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
}

// AnnotationAnswer is what the annotation became: one of the two.
type AnnotationAnswer struct {
	Hold    *resource.Hold `json:"hold,omitempty"`
	Request *RequestStatus `json:"request,omitempty"`
}

// pathAnnotations is the route that takes a reboot annotation of metal3.
func pathAnnotations(server string) string {
	return PathObject(resource.KindServer, server) + "/annotations"
}

// Annotate gives a server a reboot annotation of metal3. Repeating it is safe for one
// that places a hold.
func (s Servers) Annotate(ctx context.Context, server string, r AnnotationRequest) (out AnnotationAnswer, err error) {
	err = s.hub.call(ctx, http.MethodPost, pathAnnotations(server), r, &out)
	return out, err
}
