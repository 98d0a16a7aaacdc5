package gate

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// cutGrace is how long the connection of a request that was cut off may take for the answer that says so.
const cutGrace = time.Second

// errCut is why the context of a request was cancelled whose caller may no longer send it.
var errCut = errors.New("the caller was taken away, or may do less than before")

// flights are the requests of callers that may take longer than [requestTimeout]. Who calls is looked
// at again when the callers change: a request that takes long does not outlive its token. The zero
// flights has none. It is safe for concurrent use.
type flights struct {
	mu   sync.Mutex
	open map[*flight]struct{}
}

// flight is one such request.
type flight struct {
	r       *http.Request
	who     access.Caller
	changes bool // it may change something
	cancel  context.CancelCauseFunc

	mu  sync.Mutex
	rc  *http.ResponseController // nil once the request has ended
	cut bool
}

// begin returns a request that is cut off when its caller goes. set is who was known when it was admitted;
// now has who is known.
func (f *flights) begin(r *http.Request, w http.ResponseWriter, who access.Caller, set *callers, now *atomic.Pointer[callers]) (*http.Request, *flight) {
	ctx, cancel := context.WithCancelCause(r.Context())
	r = r.WithContext(ctx)
	one := &flight{r: r, who: who, changes: mutates(r), cancel: cancel, rc: http.NewResponseController(w)}
	f.mu.Lock()
	if f.open == nil {
		f.open = map[*flight]struct{}{}
	}
	f.open[one] = struct{}{}
	f.mu.Unlock()
	// Whoever replaces the callers first does so, and then looks at what is open: one of both sees the other.
	if later := now.Load(); later != set {
		one.check(later)
	}
	return r, one
}

// end forgets a request.
func (f *flights) end(one *flight) {
	f.mu.Lock()
	delete(f.open, one)
	f.mu.Unlock()
	one.mu.Lock()
	one.rc = nil
	one.mu.Unlock()
	one.cancel(nil)
}

// check cuts off what its caller may no longer send, and returns how many requests that were.
func (f *flights) check(now *callers) (cut int) {
	f.mu.Lock()
	open := make([]*flight, 0, len(f.open))
	for one := range f.open {
		open = append(open, one)
	}
	f.mu.Unlock()
	for _, one := range open {
		if one.check(now) {
			cut++
		}
	}
	return cut
}

func (f *flight) check(now *callers) (cut bool) {
	if who, err := now.of(f.r.Context(), f.r); err == nil && !lowered(f.who, who) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rc == nil || f.cut {
		return false
	}
	f.cut = true
	f.cancel(errCut)
	// Who waits for the connection waits no longer. A writer without deadlines is that of a test.
	_ = f.rc.SetReadDeadline(time.Now())
	_ = f.rc.SetWriteDeadline(time.Now().Add(cutGrace))
	return true
}

// still cuts off what its caller may no longer send, by a token that has run out too, and reports whether it goes
// on. Who cannot be asked now has said nothing else than before.
func (f *flight) still(now *callers) bool {
	if _, err := now.of(f.r.Context(), f.r); protocol.CodeOf(err) != protocol.CodeUnavailable {
		f.check(now)
	}
	return !f.wasCut()
}

// wasCut reports whether the request was cut off; that which is no flight never is.
func (f *flight) wasCut() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut
}

// extend sets a deadline, unless the request was cut off.
func (f *flight) extend(set func() error) error {
	if f == nil {
		return set()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut {
		return errCut
	}
	return set()
}

// refuseCut answers a request that was cut off before its answer.
func refuseCut(w http.ResponseWriter) {
	w.Header().Del("Content-Length")
	w.Header().Del("ETag")
	w.Header().Set("WWW-Authenticate", `Bearer realm="rackboot"`)
	route.WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeDenied, "answer", "the hub has read its file anew, and the caller may no longer do this").
		WithHint("what of it was done already stays done; rackctl whoami says what you may do now")).WithStatus(http.StatusUnauthorized))
}

// lowered reports whether a caller may do less than before: it is another, it has lost a role that the
// admin's does not make up for, it has another scope than everywhere, or it may no longer break glass.
func lowered(was, is access.Caller) bool {
	narrower := !is.Scope.Everywhere() && !maps.Equal(was.Scope.MatchLabels, is.Scope.MatchLabels)
	return is.Name != was.Name || narrower || was.BreakGlass && !is.BreakGlass ||
		!slices.Contains(is.Roles, access.Admin) && slices.ContainsFunc(was.Roles, func(r access.Role) bool { return !slices.Contains(is.Roles, r) })
}
