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

// attests is the step of attesting a boot that a POST to the route is; false for others.
func (r route) attests() (netboot.AttestStep, bool) {
	step, ok := strings.CutPrefix(r.name, netboot.AttestPath)
	s := netboot.AttestStep(step)
	return s, ok && r.token != "" && (s == netboot.AttestAsk || s == netboot.AttestProve)
}

// tpmStep is what a POST to the route asks of a server's TPM, and how much it may say; nil for others, and where nobody
// takes it.
func (h *handler) tpmStep(to route) (take func(body []byte) (answer []byte, refused string, err error), limit int64) {
	if step, ok := to.step(); ok && h.cfg.Enrolment != nil {
		return func(body []byte) ([]byte, string, error) { return h.cfg.Enrolment.Enrol(to.token, step, body) }, netboot.MaxEnrol
	}
	if step, ok := to.attests(); ok && h.cfg.Attestation != nil {
		return func(body []byte) ([]byte, string, error) { return h.cfg.Attestation.Attest(to.token, step, body) }, netboot.MaxAttest
	}
	return nil, 0
}

// tpm takes a step. Who is refused is told why by a code: without the token he hears that there is
// nothing.
func (h *handler) tpm(w *writer, r *http.Request, take func(body []byte) ([]byte, string, error), limit int64) {
	w.readBy(time.Now().Add(reportTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, limit))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			fail(w, http.StatusRequestEntityTooLarge)
			return
		}
		fail(w, http.StatusBadRequest)
		return
	}
	answer, refused, err := take(body)
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
