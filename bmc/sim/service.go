package sim

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// ServeHTTP answers a request as the BMC does once a connection stands.
func (b *BMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	wire := b.personality.Wire
	delay := b.personality.AnswerDelay + b.personality.Latency.draw(r.URL.Path, b.dice.Float64())
	b.mu.Unlock()
	if wire.H2Only && r.ProtoMajor < 2 || idle(r, wire.DropIdle) {
		panic(http.ErrAbortHandler)
	}
	q := readRequest(r)
	fault, faulty := b.takeFault(r)
	if delay += fault.Delay; delay > 0 && !pause(r.Context(), delay) {
		panic(http.ErrAbortHandler)
	}
	var a *answer
	if !faulty || fault.performs() {
		a = b.serve(q, wire)
	}
	if faulty {
		a = fault.answer(a)
	}
	a.write(w, r)
}

// serve answers a request with all that comes before the resource.
func (b *BMC) serve(r *request, wire WireRules) *answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := detour(r, wire); a != nil {
		return a
	}
	if !b.allowed(r) {
		a := refuse(&refusal{status: http.StatusUnauthorized, id: "Base.1.13.NoValidSession", text: "there is no valid session"})
		a.header.Set("WWW-Authenticate", `Basic realm="BMC"`)
		return a
	}
	if a := b.restricted(r); a != nil {
		return a
	}
	if a := b.busy(r); a != nil {
		return a
	}
	if !b.moves.find(r) {
		return missing()
	}
	a := b.moves.show(b.handle(r))
	if b.isSystem(r) && r.Method == http.MethodGet && a.status == http.StatusOK {
		if wire.Redirect != "" {
			return moved(http.StatusFound, wire.Redirect+r.URL.Path)
		}
		a.cut, a.padded = wire.Malformed, wire.Huge
		a.short, a.drip = wire.Short, wire.Drip
		if wire.Wrong != nil {
			a.body = merge(a.body, clone(wire.Wrong)).(object)
		}
	}
	return a
}

// detour sends a client elsewhere before anything else is looked at.
func detour(r *request, wire WireRules) *answer {
	switch {
	case wire.Slash && !strings.HasSuffix(r.URL.Path, "/"):
		return moved(http.StatusPermanentRedirect, r.URL.Path+"/")
	case wire.NoPlain && strings.Contains(r.uri, "/registries") && !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		return refuse(&refusal{status: http.StatusNotAcceptable, id: "Base.1.13.NotAcceptable", text: "only gzip"})
	default:
		return nil
	}
}

func moved(status int, to string) *answer {
	a := reply(status, nil)
	a.header.Set("Location", to)
	return a
}

// busy is the 503 of a BMC whose data are not ready after the host was started.
func (b *BMC) busy(r *request) *answer {
	wait := b.personality.Power.BusyAfter
	if wait == 0 || !strings.HasPrefix(r.uri, fold(uriSystems)) {
		return nil
	}
	for _, h := range b.hosts {
		if !h.begunAt.IsZero() && time.Since(h.begunAt) < wait && strings.HasPrefix(r.uri, fold(h.place.uri)) {
			return refuse(&refusal{status: http.StatusServiceUnavailable, id: messageNotReady, text: "data sources are not ready", retryAfter: "30"})
		}
	}
	return nil
}

func (b *BMC) isSystem(r *request) bool {
	for _, h := range b.hosts {
		if r.uri == fold(h.place.uri) {
			return true
		}
	}
	return false
}

// lastUse is when a connection was last used.
type lastUse struct {
	mu sync.Mutex
	at time.Time
}

// useKey is the key of a connection's lastUse in a request's context.
type useKey struct{}

// idle says whether the request's connection was idle for too long, and notes
// this use.
func idle(r *http.Request, limit time.Duration) bool {
	use, ok := r.Context().Value(useKey{}).(*lastUse)
	if !ok {
		return false
	}
	use.mu.Lock()
	defer use.mu.Unlock()
	last := use.at
	use.at = time.Now()
	return limit > 0 && !last.IsZero() && time.Since(last) >= limit
}
