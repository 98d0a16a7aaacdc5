package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// route answers a method and path with what f returns.
func (a *API) route(method, path string, f func(*http.Request) (status int, answer any, err error)) {
	a.mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) {
		status, answer, err := f(r)
		if err != nil {
			a.fail(w, err)
			return
		}
		a.answers.WithLabelValues(healthyResult).Inc()
		write(w, "application/json", status, answer)
	})
}

func write(w http.ResponseWriter, kind string, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil { // a time after the year 9999, from a BMC
		status, raw = http.StatusInternalServerError, []byte(`{"code":"internal","detail":"the answer cannot be written as JSON"}`)
		kind = api.ProblemType
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // the caller went away
}

func (a *API) status(*http.Request) (int, any, error) {
	s, err := a.cfg.Reader.Status()
	return http.StatusOK, s, err
}

func (a *API) servers(*http.Request) (int, any, error) {
	return http.StatusOK, List[Summary]{Items: orEmpty(a.cfg.Reader.Servers())}, nil
}

func (a *API) server(r *http.Request) (int, any, error) {
	s, err := a.cfg.Reader.Server(r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	s.Explain = explain(s)
	return http.StatusOK, s, nil
}

func (a *API) trace(r *http.Request) (int, any, error) {
	serial, err := api.ParseSerial(r.URL.Query().Get(api.QueryAttempt))
	if err != nil {
		return 0, nil, err
	}
	t, err := a.cfg.Reader.Trace(r.PathValue("name"), serial)
	return http.StatusOK, t, err
}

func (a *API) holds(*http.Request) (int, any, error) {
	h, err := a.cfg.Reader.Holds()
	return http.StatusOK, List[Hold]{Items: orEmpty(h)}, err
}

// orEmpty keeps null out of JSON.
func orEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

func (a *API) place(r *http.Request) (int, any, error) {
	var req api.HoldRequest
	if err := body("hold", r, &req); err != nil {
		return 0, nil, err
	}
	h, err := asked(req, r.PathValue("name"), by(r), a.cfg.NewID())
	if err != nil {
		return 0, nil, err
	}
	placed, fresh, err := a.cfg.Writer.Place(h)
	if err != nil {
		return 0, nil, err
	}
	if !fresh {
		return http.StatusOK, placed, nil
	}
	a.cfg.Logger.Info("hold placed at the agent", "hold", placed.ID, "server", placed.Server, "mode", placed.Mode, "by", placed.Owner)
	return http.StatusCreated, placed, nil
}

// asked is the hold that a request asks for, by the rules of every hold.
func asked(req api.HoldRequest, server, owner, id string) (resource.ActiveHold, error) {
	h := resource.Hold{Spec: resource.HoldSpec{Server: server, Owner: owner, HoldTerms: req.HoldTerms}}
	h.Metadata.Name = id
	h.Default()
	if f := h.Validate(); len(f) > 0 {
		return resource.ActiveHold{}, protocol.Errorf(protocol.CodeInvalid, "hold", "%w", f).WithHint("correct the fields and place it again")
	}
	return resource.ActiveHold{ID: id, HoldSpec: h.Spec}, nil
}

// maxReason bounds a reason in bytes, as a hold's is.
const maxReason = 1024

func (a *API) release(r *http.Request) (int, any, error) {
	var req api.ReleaseRequest
	if err := body("release", r, &req); err != nil {
		return 0, nil, err
	}
	reason := strings.TrimSpace(req.BreakGlass)
	if len(reason) > maxReason {
		return 0, nil, tooLong("release", "breakGlass")
	}
	h, err := a.cfg.Writer.Release(r.PathValue("id"), by(r), reason)
	if err != nil {
		return 0, nil, err
	}
	a.cfg.Logger.Info("hold released at the agent", "hold", h.ID, "server", h.Server, "by", by(r), "reason", reason)
	return http.StatusOK, h, nil
}

func (a *API) confirm(r *http.Request) (int, any, error) {
	var req api.ConfirmRequest
	if err := body("confirm-down", r, &req); err != nil {
		return 0, nil, err
	}
	reason := strings.TrimSpace(req.Reason)
	switch {
	case reason == "":
		return 0, nil, protocol.Errorf(protocol.CodeInvalid, "confirm-down", "reason is empty").
			WithHint("say how you know that the server is down; it goes into the receipt")
	case len(reason) > maxReason:
		return 0, nil, tooLong("confirm-down", "reason")
	}
	h, err := a.cfg.Writer.Confirm(r.PathValue("id"), by(r), reason)
	if err != nil {
		return 0, nil, err
	}
	a.cfg.Logger.Info("server confirmed down at the agent", "hold", h.ID, "server", h.Server, "by", by(r), "reason", reason)
	return http.StatusOK, h, nil
}

func tooLong(op, field string) error {
	return protocol.Errorf(protocol.CodeInvalid, op, "%s is longer than %d bytes", field, maxReason).WithHint("give a shorter one")
}

// body decodes one JSON value; an empty body is that with no fields.
func body(op string, r *http.Request, into any) error {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "read the body: %w", err).WithHint("send one JSON value of at most %d bytes", maxBody)
	}
	return decode(op, raw, into)
}

func decode(op string, raw []byte, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = fmt.Errorf("there is more after the JSON value")
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "the body is wrong: %s", strings.TrimPrefix(err.Error(), "json: ")).
		WithHint("see the package comment of agent/local, or use rackboot-agent %s --help", op)
}
