package gate

import (
	"net/http"

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
	instead   bool // another answer was given in place of the handler's
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
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
	if r.instead {
		return len(b), nil
	}
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.kept = append(r.kept, b[:min(len(b), max(0, r.keep-len(r.kept)))]...)
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection's deadlines.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
