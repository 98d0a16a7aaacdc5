package httpboot

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"rackboot/protocol"
)

const (
	// maxPlainReport bounds the body of a report that is not JSON, and is not read
	// for anything.
	maxPlainReport = 4 << 10
	// reportTimeout bounds reading the body, and again storing the report.
	reportTimeout = 10 * time.Second

	typeJSON = "application/json"
)

// report takes a report. It is durable before the client hears so. Whoever sends
// something wrong is told what: it is a program that somebody is writing.
func (h *handler) report(w *writer, r *http.Request, to route) {
	w.readBy(time.Now().Add(reportTimeout))
	limit, isJSON := int64(maxPlainReport), false
	// An image that has curl only says application/x-www-form-urlencoded of no body at all.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == typeJSON {
		limit, isJSON = protocol.MaxProbeReport, true
	}
	if to.state == protocol.ProbeFailed { // it counts, whatever else it says
		body, err := io.ReadAll(io.LimitReader(r.Body, protocol.MaxProbeReport))
		if err != nil {
			fail(w, http.StatusBadRequest)
			return
		}
		h.take(w, r, to, protocol.FailureReport(body))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, limit))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			fail(w, http.StatusRequestEntityTooLarge)
			return
		}
		fail(w, http.StatusBadRequest)
		return
	}
	if !isJSON || len(body) == 0 {
		body = []byte("{}")
	}
	report, err := protocol.DecodeProbeReport(body, to.state)
	if err != nil {
		h.wrong(w, err)
		return
	}
	h.take(w, r, to, report)
}

// take stores a report, and answers when that is done.
func (h *handler) take(w *writer, r *http.Request, to route, report protocol.ProbeReport) {
	ctx, cancel := context.WithTimeout(r.Context(), reportTimeout)
	defer cancel()
	if err := h.cfg.Files.Report(ctx, w.client, to.token, report); err != nil {
		h.failed(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// maxWrong bounds what a client is told of its own mistake, in bytes.
const maxWrong = 1 << 10

// wrong answers a report that cannot be read.
func (h *handler) wrong(w *writer, err error) {
	h.cfg.Logger.Debug("report refused", "err", err)
	text := err.Error()
	text = text[:min(len(text), maxWrong)] + "\n"
	w.Header().Set("Content-Type", textPlain)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, text) // the client may be gone
}
