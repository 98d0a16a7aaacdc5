package api

import (
	"context"

	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
	"rackboot/state/heads"
)

// losses says what the store has lost; nil is nothing.
type losses struct{ now func() *heads.Loss }

// of is what a list of a kind of keys says of it; nil is nothing. What was written after the last checkpoint may be
// lost of every kind, so no list is complete. Names are for callers who see everything.
func (l losses) of(ctx context.Context, kind string) *protoapi.Incomplete {
	lost := l.now()
	if lost == nil {
		return nil
	}
	out := &protoapi.Incomplete{Message: "the hub's store has lost what was acknowledged", Hint: heads.Hint}
	if !route.Caller(ctx).Scope.Everywhere() {
		return out
	}
	out.Message += ": " + lost.Error()
	for _, i := range lost.Of(kind) {
		out.Lost = append(out.Lost, protoapi.Lost{Name: i.Name, Note: i.Note, How: string(i.How)})
	}
	return out
}
