package gate

import (
	"net/http"

	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
	"rackboot/state/heads"
)

// absence is what is answered in place of that something does not exist, for a store that has lost something. Whoever
// asked for a hold would take that for its release. Paths that are no routes are answered as ever.
type absence struct {
	request *http.Request
	lost    *heads.Loss
}

// of is the answer in place of one with a status; nil is that one. A nil absence is for a store that has everything.
func (a *absence) of(status int) *protoapi.Problem {
	if a == nil || status != http.StatusNotFound || a.request.Pattern == "/" {
		return nil
	}
	err := a.lost.Err("answer")
	if !route.Caller(a.request.Context()).Scope.Everywhere() {
		err.Message = "the hub's store has lost what was acknowledged"
	}
	err.Message = "it is not there, which means nothing: " + err.Message
	return protoapi.ProblemOf(err)
}
