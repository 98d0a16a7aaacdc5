package gate

import (
	"net/http"
	"time"

	"rackboot/hub/api/route"
)

// maxKept bounds what is kept of an answer that is no success, in bytes: a problem
// without many wrong fields.
const maxKept = 8 << 10

// recorder remembers the status, and the beginning of the body of what is no success.
type recorder struct {
	http.ResponseWriter
	status    int
	kept      []byte
	keep      int  // how much is kept of any answer
	untouched bool // nothing was done
	absence   *absence
	instead   bool    // another answer was given in place of the handler's
	flight    *flight // nil if the request is short
	turn      func()  // ends the turn of a request that takes the processor; nil if it has none
	settled   bool    // it was cut off, and is answered all the same: by a refusal, or by what it had changed before
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && !r.settled && r.flight.wasCut() {
		r.settled = true
		if !r.flight.changes || status >= http.StatusBadRequest {
			r.absence = nil
			refuseCut(r)
			r.instead = true
			return
		}
	}
	if p := r.absence.of(status); p != nil && r.status == 0 {
		h := r.Header()
		h.Del("Content-Length")
		h.Del("ETag")
		r.absence = nil
		route.WriteProblem(r, p)
		r.instead = true
		return
	}
	if r.status == 0 {
		r.status = status
		if status >= http.StatusBadRequest {
			r.keep = max(r.keep, maxKept)
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.endTurn()
	if r.instead {
		return len(b), nil
	}
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
		if r.instead {
			return len(b), nil
		}
	}
	if !r.settled && r.flight.wasCut() {
		return 0, errCut
	}
	r.kept = append(r.kept, b[:min(len(b), max(0, r.keep-len(r.kept)))]...)
	return r.ResponseWriter.Write(b)
}

// SetReadDeadline is for http.ResponseController. What was cut off does not go on by a later deadline.
func (r *recorder) SetReadDeadline(t time.Time) error {
	return r.flight.extend(func() error { return http.NewResponseController(r.ResponseWriter).SetReadDeadline(t) })
}

// SetWriteDeadline is as SetReadDeadline.
func (r *recorder) SetWriteDeadline(t time.Time) error {
	return r.flight.extend(func() error { return http.NewResponseController(r.ResponseWriter).SetWriteDeadline(t) })
}

// settle answers a request that was cut off before anything of its answer was written.
func (r *recorder) settle() {
	if r.status == 0 && !r.settled && r.flight.wasCut() {
		r.WriteHeader(http.StatusUnauthorized)
	}
}

// abort ends the connection where an answer was cut off after its beginning, so that nobody takes it
// for whole.
func (r *recorder) abort() {
	if !r.settled && r.flight.wasCut() {
		panic(http.ErrAbortHandler)
	}
}

// Unwrap lets http.ResponseController reach the connection's deadlines.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
