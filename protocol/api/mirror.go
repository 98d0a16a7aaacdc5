package api

import (
	"context"
	"net/http"
	"time"

	"rackboot/protocol/resource"
)

// MirrorWait is how long a hub waits for an agent that is asked about its mirror.
const MirrorWait = 10 * time.Second

// FlushRequest asks for a rack's mirror of package repositories to be flushed.
type FlushRequest struct {
	// What is the URL, or the path from "/", at which and below which all is dropped; empty is all.
	What string `json:"what,omitempty" maxLength:"2048" doc:"URL, or path from \"/\", at which and below which all is dropped; empty: all"`
	// Force drops it also while a repository does not answer, so that boots have nothing of it.
	Force bool `json:"force,omitempty" doc:"drop it also while a repository does not answer"`
	// Reason is for the audit log.
	Reason string `json:"reason,omitempty" doc:"why, for the audit log"`
}

func pathMirror(rack string) string { return PathObject(resource.KindRack, rack) + "/mirror" }

// Mirror has the rack's agent say what it has of package repositories.
func (a Agents) Mirror(ctx context.Context, rack string) (out resource.MirrorStatus, err error) {
	ctx, cancel := mirrorContext(ctx)
	defer cancel()
	err = a.hub.call(ctx, http.MethodGet, pathMirror(rack), nil, &out)
	return out, err
}

// Flush has the rack's agent forget what it has cached of package repositories. Repeating it is
// safe.
func (a Agents) Flush(ctx context.Context, rack string, r FlushRequest) (out resource.MirrorFlushed, err error) {
	ctx, cancel := mirrorContext(ctx)
	defer cancel()
	err = a.hub.call(ctx, http.MethodPost, pathMirror(rack)+"/flush", r, &out)
	return out, err
}

func mirrorContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, MirrorWait+callTimeout)
}
