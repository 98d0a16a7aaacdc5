package local

import (
	"net/http"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ResumeRequest is the body of a resume.
type ResumeRequest struct {
	// Reason is what was found at the server.
	Reason string `json:"reason"`
}

// Resumed says under which id a resume was taken.
type Resumed struct {
	ID     string `json:"id"`
	Server string `json:"server"`
}

// resume takes a resume. What came of it is among the server's requests, and an event.
func (a *API) resume(r *http.Request) (int, any, error) {
	var req ResumeRequest
	if err := body("resume", r, &req); err != nil {
		return 0, nil, err
	}
	reason := strings.TrimSpace(req.Reason)
	switch {
	case reason == "":
		return 0, nil, protocol.Errorf(protocol.CodeInvalid, "resume", "reason is empty").WithHint("say what you found at the server; it goes into the events")
	case len(reason) > maxReason:
		return 0, nil, tooLong("resume", "reason")
	}
	q := resource.Request{ID: a.cfg.NewID(), Server: r.PathValue("name"), Action: resource.RequestResume, By: by(r), Why: reason}
	if err := a.cfg.Writer.Resume(q); err != nil {
		return 0, nil, err
	}
	a.cfg.Logger.Info("resume asked for at the agent", "request", q.ID, "server", q.Server, "by", q.By, "reason", reason)
	return http.StatusAccepted, Resumed{ID: q.ID, Server: q.Server}, nil
}
