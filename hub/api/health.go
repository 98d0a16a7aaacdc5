package api

import (
	"io"
	"net/http"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// registerHealth: healthz answers while the process serves at all, readyz only
// when the hub can do its work.
func (a *API) registerHealth() {
	ok := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"status":"ok"}`+"\n") //nolint:errcheck // the client is gone
	}
	a.mux.HandleFunc("GET "+protoapi.PathHealth, func(w http.ResponseWriter, _ *http.Request) { ok(w) })
	a.mux.HandleFunc("GET "+protoapi.PathReady, func(w http.ResponseWriter, r *http.Request) {
		if a.ready != nil {
			if err := a.ready(r.Context()); err != nil {
				// The text may tell of the inside, and this route needs no token.
				a.logger.Debug("hub is not ready", "err", err)
				writeProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "ready", "the hub is not ready").
					WithHint("see the hub's log")))
				return
			}
		}
		ok(w)
	})
}
