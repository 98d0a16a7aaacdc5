package gate

import (
	"net/http"

	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
	"rackboot/state/heads"
)

// lossy answers for a store that has lost something: that something does not exist is not said. Whoever
// asked for a hold would take that for its release.
type lossy struct {
	*recorder
	request *http.Request
	lost    *heads.Loss
	instead bool // another answer was given
}

// WriteHeader implements http.ResponseWriter. Paths that are no routes are answered as ever.
func (l *lossy) WriteHeader(status int) {
	if status != http.StatusNotFound || l.request.Pattern == "/" {
		l.recorder.WriteHeader(status)
		return
	}
	l.instead = true
	h := l.Header()
	h.Del("Content-Length")
	h.Del("ETag")
	err := l.lost.Err("answer")
	if !route.Caller(l.request.Context()).Scope.Everywhere() {
		err.Message = "the hub's store has lost what was acknowledged"
	}
	err.Message = "it is not there, which means nothing: " + err.Message
	route.WriteProblem(l.recorder, protoapi.ProblemOf(err))
}

// Write implements http.ResponseWriter.
func (l *lossy) Write(b []byte) (int, error) {
	if l.instead {
		return len(b), nil
	}
	return l.recorder.Write(b)
}
