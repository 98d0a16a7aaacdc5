package local

import (
	"net/http"

	"rackboot/protocol/api"
)

func (a *API) mirror(*http.Request) (int, any, error) {
	s, err := a.cfg.Reader.Mirror()
	return http.StatusOK, s, err
}

// flush forgets what is cached of package repositories.
func (a *API) flush(r *http.Request) (int, any, error) {
	var req api.FlushRequest
	if err := body("flush the mirror", r, &req); err != nil {
		return 0, nil, err
	}
	if len(req.Reason) > maxReason {
		return 0, nil, tooLong("flush the mirror", "reason")
	}
	f, err := a.cfg.Writer.Flush(r.Context(), req.What, req.Force)
	a.cfg.Logger.Info("mirror flushed at the agent", "what", req.What, "force", req.Force, "by", by(r), "reason", req.Reason, "objects", f.Objects, "err", err)
	return http.StatusOK, f, err
}
