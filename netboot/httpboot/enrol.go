package httpboot

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// refusal is how a client is told why its TPM is not enrolled.
type refusal struct {
	Refused string `json:"refused"`
}

// step is the step of enrolling a TPM that a POST to the route is; false for others.
func (r route) step() (netboot.EnrolStep, bool) {
	step, ok := strings.CutPrefix(r.name, netboot.EnrolPath)
	s := netboot.EnrolStep(step)
	return s, ok && r.token != "" && (s == netboot.EnrolOffer || s == netboot.EnrolAnswer)
}

// enrol takes a step. Who is refused is told why by a code: without the token he hears that there is
// nothing.
func (h *handler) enrol(w *writer, r *http.Request, to route, step netboot.EnrolStep) {
	w.readBy(time.Now().Add(reportTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, netboot.MaxEnrol))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			fail(w, http.StatusRequestEntityTooLarge)
			return
		}
		fail(w, http.StatusBadRequest)
		return
	}
	answer, refused, err := h.cfg.Enrolment.Enrol(to.token, step, body)
	switch {
	case protocol.CodeOf(err) == protocol.CodeInvalid && err != nil:
		h.wrong(w, err)
	case err != nil:
		h.failed(w, err)
	case refused != "":
		body, _ := json.Marshal(refusal{refused}) // a text always can be
		replyJSON(w, http.StatusForbidden, body)
	case answer == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		replyJSON(w, http.StatusOK, answer)
	}
}

func replyJSON(w *writer, status int, body []byte) {
	w.Header().Set("Content-Type", typeJSON)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}
