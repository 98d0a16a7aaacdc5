package gate

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/api/fair"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// inTurn has requests that take the processor come in turn, one of each caller: whoever lists the fleet a
// hundred times at once delays himself. The turn ends with the first byte of the answer, so that
// nobody waits for a client that reads slowly.
func inTurn(table *route.Table, turns *fair.Places, m metrics) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if !table.Rule(ctx.Operation().OperationID).Heavy {
			next(ctx)
			return
		}
		r, w := humago.Unwrap(ctx)
		who := route.Caller(r.Context()).Name
		if err := turns.Wait(r.Context(), who); err != nil {
			if protocol.CodeOf(err) == protocol.CodeUnavailable {
				m.limited.WithLabelValues("share").Inc()
				tooMany(w, 0)
				return
			}
			route.WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "answer", "too many requests took the hub's processors: %w", err).
				WithHint("nothing was done; try again")))
			return
		}
		rec := w.(*recorder)
		rec.turn = func() { turns.Leave(who) }
		defer rec.endTurn()
		next(ctx)
	}
}

// endTurn gives the turn of a request back, once.
func (r *recorder) endTurn() {
	if end := r.turn; end != nil {
		r.turn = nil
		end()
	}
}
