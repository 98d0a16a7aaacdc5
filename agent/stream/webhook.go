package stream

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/bmc/redfish"
	"rackboot/netboot"
)

const (
	maxHook   = 64 << 10 // body of a webhook, bytes
	hookRate  = 10       // bodies that are read, per second and BMC
	hookBurst = 20
	hookToken = 16 // bytes
)

// What becomes of a request to a webhook, as the metric counts it.
const (
	hookTaken   = "taken"
	hookNoEvent = "no_event"
	hookLimited = "limited"
	hookRefused = "refused" // method or size
	hookUnknown = "unknown"
)

func newWebhooks() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_bmc_webhooks_total", Help: "Requests to the paths that BMCs send events to, by what became of them.",
	}, []string{"result"})
	for _, r := range []string{hookTaken, hookNoEvent, hookLimited, hookRefused, hookUnknown} {
		v.WithLabelValues(r)
	}
	return v
}

// hooks are the paths that BMCs send events to. They are secret, so that nobody else
// can make the agent read a BMC, and are never logged. It is safe for concurrent use.
type hooks struct {
	newID func() string
	met   *metrics

	mu  sync.Mutex
	key []byte           // made at start
	by  map[string]*hook // by token
}

type hook struct {
	event func()
	rate  *rate.Limiter
}

func newHooks(newID func() string, m *metrics) *hooks {
	return &hooks{newID: newID, met: m, by: map[string]*hook{}}
}

// open serves the path of a BMC until close is called. It is the same for as long as
// the agent runs.
func (x *hooks) open(address string, event func()) (path string, stop func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.key == nil {
		x.key = []byte(x.newID())
	}
	mac := hmac.New(sha256.New, x.key)
	mac.Write([]byte(address))
	token := hex.EncodeToString(mac.Sum(nil)[:hookToken])
	h := &hook{event: event, rate: rate.NewLimiter(hookRate, hookBurst)}
	x.by[token] = h
	return netboot.EventPrefix + token, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.by[token] == h {
			delete(x.by, token)
		}
	}
}

// ServeHTTP takes events. What is no event, and what comes too often, is answered like
// the rest: BMCs give up subscribers that answer with errors.
func (x *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, result := x.take(w, r)
	x.met.webhooks.WithLabelValues(result).Inc()
	if status != http.StatusNoContent {
		w.Header().Set("Connection", "close") // the rest of the body is not read
	}
	w.WriteHeader(status)
}

func (x *hooks) take(w http.ResponseWriter, r *http.Request) (status int, result string) {
	x.mu.Lock()
	h := x.by[strings.TrimPrefix(r.URL.Path, netboot.EventPrefix)]
	x.mu.Unlock()
	if h == nil {
		return http.StatusNotFound, hookUnknown
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, hookRefused
	}
	if !h.rate.Allow() {
		return http.StatusNoContent, hookLimited
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return http.StatusRequestEntityTooLarge, hookRefused
		}
		return http.StatusBadRequest, hookRefused
	}
	if _, err := redfish.ParseEvents(body); err != nil {
		return http.StatusNoContent, hookNoEvent
	}
	x.met.events.Inc()
	h.event()
	return http.StatusNoContent, hookTaken
}
