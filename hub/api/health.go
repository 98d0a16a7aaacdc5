package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state/heads"
)

// health says how the hub is: healthz answers while the process serves at all, readyz only when the
// hub can do its work; and whether it is the one of several that works the racks. All that are ready take changes.
type health struct {
	ready  func(ctx context.Context) error // nil is always
	idle   func() bool                     // another hub works the racks; nil is never
	logger *slog.Logger
}

func (h health) routes(t *route.Table) {
	ok := func(w http.ResponseWriter, answer string) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer+"\n") //nolint:errcheck // the client is gone
	}
	t.Handle("GET "+protoapi.PathHealth, func(w http.ResponseWriter, _ *http.Request) { ok(w, `{"status":"ok"}`) })
	t.Handle("GET "+protoapi.PathReady, func(w http.ResponseWriter, r *http.Request) {
		if h.ready != nil {
			if err := h.ready(r.Context()); err != nil {
				// The text may tell of the inside, and this route needs no token.
				h.logger.Debug("hub is not ready", "err", err)
				if _, lost := errors.AsType[*heads.Loss](err); lost {
					route.WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "ready", "the hub's store has lost what was acknowledged, and the hub only reads").
						WithHint("%s", heads.Hint)))
					return
				}
				route.WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "ready", "the hub is not ready").
					WithHint("see the hub's log")))
				return
			}
		}
		if h.idle != nil && h.idle() {
			ok(w, `{"status":"ok","works":false}`)
			return
		}
		ok(w, `{"status":"ok","works":true}`)
	})
}
