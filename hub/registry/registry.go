package registry

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state/blob"
	"rackboot/state/file"
)

// Right is what a caller may do. Each has those before it.
type Right int

// The rights.
const (
	Throttled Right = iota // asks too often
	None                   // not known
	Known                  // known, and may do nothing here
	Pull
	Push
)

// Caller is who sends a request.
type Caller struct {
	Name  string
	Roles []string
}

// Config configures a Registry.
type Config struct {
	Dir string
	// Quota bounds everything together, and MinFree is what of the file system is left
	// alone, both in bytes.
	Quota, MinFree int64
	// Right says who sends a request, and what that one may do.
	Right func(*http.Request) (who Caller, may Right)
	Audit Audit // nil keeps none
	// Shared is where hubs that share a store have the book and the blobs; nil keeps them in Dir alone.
	Shared *Shared
	// Former is what hubs shared before the store came into this hub's folder: it goes into the book there. Nil is nothing.
	Former *store.Repositories
	Clock  func() time.Time
	// Idle bounds the time between two pieces of a body that is sent, and Whole that of a
	// whole upload; 30 s and 1 h if zero.
	Idle, Whole time.Duration
	Logger      *slog.Logger
	Registerer  prometheus.Registerer
}

// The bounds of what strangers to each other may leave here.
const (
	defaultIdle  = 30 * time.Second
	defaultWhole = time.Hour
	maxUploads   = 32 // open at once
	maxSending   = 8  // of them with a body
	maxManifest  = 4 << 20
)

// Registry is a registry. Its methods are safe for concurrent use.
type Registry struct {
	cfg     Config
	blobs   *blob.Store
	sending chan struct{}
	metrics metrics

	mu      sync.Mutex
	book    book
	uploads map[string]*upload
	arrived map[string]time.Time // when what no manifest names was seen first, by digest
}

// Open opens the folder, or makes it. Errors: invalid, conflict (another process has it),
// unavailable, internal.
func Open(cfg Config) (*Registry, error) {
	if cfg.Idle == 0 {
		cfg.Idle = defaultIdle
	}
	if cfg.Whole == 0 {
		cfg.Whole = defaultWhole
	}
	blobs, err := blob.Open(blob.Config{Dir: filepath.Join(cfg.Dir, "blobs"), Quota: cfg.Quota, MinFree: cfg.MinFree, Keep: true, Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	r := &Registry{cfg: cfg, blobs: blobs, sending: make(chan struct{}, maxSending), uploads: map[string]*upload{}, arrived: map[string]time.Time{}}
	if r.book, err = readBook(cfg.Dir); err == nil {
		err = file.Sweep(cfg.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, blobs.Close())
	}
	r.metrics = newMetrics(cfg.Registerer, r)
	return r, nil
}

// Close gives the folder up.
func (r *Registry) Close() error { return r.blobs.Close() }

// route is what a path names: a repository, and in it a blob, an upload, a manifest or the
// tags. Names are of the specification's form, so that none leads anywhere on a disk; nor is
// one ever used as a path.
type route struct{ repository, kind, reference string }

const (
	kindUploads   = "/blobs/uploads/"
	kindBlobs     = "/blobs/"
	kindManifests = "/manifests/"
	kindTags      = "/tags/"
)

// parse reads a path as it came, below /v2/.
func parse(path string) (route, bool) {
	for _, kind := range []string{kindUploads, kindBlobs, kindManifests, kindTags} {
		i := strings.LastIndex(path, kind)
		if i < 0 {
			continue
		}
		to := route{path[:i], kind, path[i+len(kind):]}
		ok := validName(to.repository)
		switch kind {
		case kindUploads:
			ok = ok && (to.reference == "" || validUpload(to.reference))
		case kindBlobs:
			ok = ok && protocol.ValidDigest(to.reference)
		case kindManifests:
			ok = ok && (validTag(to.reference) || protocol.ValidDigest(to.reference))
		case kindTags:
			ok = ok && to.reference == "list"
		}
		return to, ok
	}
	return route{}, false
}

// ServeHTTP implements http.Handler.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Docker-Distribution-API-Version", "registry/2.0")
	need := Pull
	who, may := r.cfg.Right(req)
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		need = Push
	}
	if may < need {
		r.denied(req, who, may, need == Push)
		r.refuse(w, may)
		return
	}
	rest, below := strings.CutPrefix(req.URL.Path, "/v2/")
	if below && rest == "" || req.URL.Path == "/v2" {
		w.WriteHeader(http.StatusOK)
		return
	}
	to, ok := parse(rest)
	if !below || !ok {
		fail(w, http.StatusNotFound, "NAME_INVALID", "no repository, tag or digest has this form")
		return
	}
	handler := map[string]map[string]func(http.ResponseWriter, *http.Request, route){
		kindBlobs:     {http.MethodGet: r.getBlob, http.MethodHead: r.getBlob},
		kindManifests: {http.MethodGet: r.getManifest, http.MethodHead: r.getManifest, http.MethodPut: r.putManifest(who), http.MethodDelete: r.deleteManifest(who)},
		kindTags:      {http.MethodGet: r.tags},
		kindUploads:   {http.MethodPost: r.begin, http.MethodPatch: r.send, http.MethodPut: r.finish, http.MethodDelete: r.giveUp, http.MethodGet: r.state},
	}[to.kind][req.Method]
	if handler == nil || to.kind == kindUploads && (to.reference == "") != (req.Method == http.MethodPost) {
		fail(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "this cannot be done here")
		return
	}
	handler(w, req, to)
}

// refuse says why somebody may not do something.
func (r *Registry) refuse(w http.ResponseWriter, may Right) {
	r.metrics.refused.Inc()
	switch may {
	case Throttled:
		w.Header().Set("Retry-After", "1")
	case None:
		w.Header().Set("WWW-Authenticate", `Basic realm="rackboot-hub"`)
	case Known, Pull, Push:
	}
	refusal(may).answer(w)
}

func refusal(may Right) *failure {
	switch may {
	case Throttled:
		return &failure{http.StatusTooManyRequests, "TOOMANYREQUESTS", "too many requests came from this account, or wrong ones from this address"}
	case None:
		return &failure{http.StatusUnauthorized, "UNAUTHORIZED", "give the name and the token of a client of the hub, or an agent's certificate"}
	case Known, Pull, Push:
	}
	return &failure{http.StatusForbidden, "DENIED", "pull needs the role viewer, push the role operator, both without a scope"}
}

// fail answers with an error of the specification.
func fail(w http.ResponseWriter, status int, code, message string) {
	type one struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string][]one{"errors": {{code, message}}}) // the client may be gone
}

// getBlob serves a blob with ranges. Who may pull may pull all: a blob is in no repository.
func (r *Registry) getBlob(w http.ResponseWriter, req *http.Request, to route) {
	if req.Method == http.MethodHead {
		// Who pushes asks so what need not be sent.
		r.seen(to.reference)
		if size, elsewhere := r.elsewhere(to.reference); elsewhere {
			w.Header().Set("Docker-Content-Digest", to.reference)
			w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
			return
		}
	}
	f, _, failed := r.open(req.Context(), to.reference)
	if failed == nil && f == nil {
		failed = &failure{http.StatusNotFound, "BLOB_UNKNOWN", "there is no blob " + to.reference}
	}
	if failed != nil {
		failed.answer(w)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Docker-Content-Digest", to.reference)
	w.Header().Set("ETag", `"`+to.reference+`"`)
	http.ServeContent(&steady{ResponseWriter: w, control: http.NewResponseController(w)}, req, "", time.Time{}, f)
}

// steady bounds the time that each piece of an answer may take.
type steady struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer.
func (s *steady) Write(b []byte) (int, error) {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return s.ResponseWriter.Write(b)
}

// Run moves a book that lies where it is read no more, and removes what nobody names, until ctx ends.
func (r *Registry) Run(ctx context.Context) error {
	tick := time.NewTicker(collectEvery)
	defer tick.Stop()
	for {
		again := mover{r}.move(ctx)
		r.collect()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case <-again:
		}
	}
}
