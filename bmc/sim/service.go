package sim

import (
	"crypto/tls"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/tree"
)

// service answers requests with all that comes before the resource. Its methods are safe
// for concurrent use.
type service struct {
	manner   *manner
	faults   *faults
	sessions *sessions
	accounts *accounts
	moves    *movedSystem
	router   *router
	supplies []*supply // of the hosts

	requests requests

	mu   sync.Mutex // one request at a time
	dice *rand.Rand
}

// ServeHTTP answers a request as the BMC does once a connection stands.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.note(r)
	s.mu.Lock()
	u := s.dice.Float64()
	s.mu.Unlock()
	p := s.manner.now()
	wire := p.Wire
	wait := p.AnswerDelay + p.Latency.draw(r.URL.Path, u)
	newer := r.TLS == nil || r.TLS.Version > tls.VersionTLS10
	if wire.H2Only && r.ProtoMajor < 2 || wire.OldTLS && newer || idle(r, wire.DropIdle) {
		panic(http.ErrAbortHandler)
	}
	q := readRequest(r)
	fault, faulty := s.faults.take(r)
	if wait += fault.Delay; wait > 0 && !delay.Pause(r.Context(), wait) {
		panic(http.ErrAbortHandler)
	}
	var a *answer
	if !faulty || fault.performs() {
		a = s.serve(q, wire)
	}
	if faulty {
		a = fault.answer(a)
	}
	a.write(w, r)
}

// serve answers a request with all that comes before the resource.
func (s *service) serve(r *request, wire WireRules) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := detour(r, wire); a != nil {
		return a
	}
	if !s.sessions.allowed(r) {
		a := refuse(&refusal{status: http.StatusUnauthorized, id: "Base.1.13.NoValidSession", text: "there is no valid session"})
		a.header.Set("WWW-Authenticate", `Basic realm="BMC"`)
		return a
	}
	if a := s.accounts.restricted(r); a != nil {
		return a
	}
	if a := s.busy(r); a != nil {
		return a
	}
	if wire.Unready != "" && r.uri == tree.Fold(wire.Unready) {
		return refuse(&refusal{status: http.StatusServiceUnavailable, text: "the resource is not ready"})
	}
	if !s.moves.find(r) {
		return missing()
	}
	a := s.moves.show(s.router.handle(r))
	if s.isSystem(r) && r.Method == http.MethodGet && a.status == http.StatusOK {
		if wire.Redirect != "" {
			return moved(http.StatusFound, wire.Redirect+r.URL.Path)
		}
		a.cut, a.padded = wire.Malformed, wire.Huge
		a.short, a.drip = wire.Short, wire.Drip
		if wire.Wrong != nil {
			a.body = tree.Merge(a.body, tree.Clone(wire.Wrong)).(tree.Object)
		}
	}
	return a
}

// busy is the 503 of a BMC whose data are not ready after the host was started.
func (s *service) busy(r *request) *answer {
	if !strings.HasPrefix(r.uri, tree.Fold(tree.SystemsURI)) {
		return nil
	}
	for _, one := range s.supplies {
		if strings.HasPrefix(r.uri, tree.Fold(one.uri)) {
			if refused := one.notReady(); refused != nil {
				return refuse(refused)
			}
		}
	}
	return nil
}

// isSystem says whether a request is for a host itself.
func (s *service) isSystem(r *request) bool {
	return slices.ContainsFunc(s.supplies, func(one *supply) bool { return r.uri == tree.Fold(one.uri) })
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
