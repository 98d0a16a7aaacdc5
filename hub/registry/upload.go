package registry

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"rackboot/protocol"
	"rackboot/state/blob"
)

// upload is a blob that comes. Its content is sent once; then its digest is known.
type upload struct {
	began  time.Time
	busy   bool
	digest string // of what was sent; empty before
	size   int64
}

// begin answers POST: a new upload, or with ?digest the whole of it. What there is already
// is not sent again; a blob of another repository is one.
func (r *Registry) begin(w http.ResponseWriter, req *http.Request, to route) {
	if mount := req.URL.Query().Get("mount"); protocol.ValidDigest(mount) && r.seen(mount) {
		created(w, to, mount)
		return
	}
	digest := req.URL.Query().Get("digest")
	if digest != "" && !protocol.ValidDigest(digest) {
		fail(w, http.StatusBadRequest, "DIGEST_INVALID", "digest is sha256: and 64 hex digits")
		return
	}
	r.mu.Lock()
	r.expire()
	full := len(r.uploads) >= maxUploads
	id, u := rand.Text(), &upload{began: r.cfg.Clock(), busy: digest != ""}
	if !full {
		r.uploads[id] = u
	}
	r.mu.Unlock()
	if full {
		w.Header().Set("Retry-After", "30")
		fail(w, http.StatusTooManyRequests, "TOOMANYREQUESTS", fmt.Sprintf("%d uploads are open; try again", maxUploads))
		return
	}
	if digest == "" {
		accepted(w, to, id, 0)
		return
	}
	defer r.drop(id)
	if got, _, ok := r.receive(w, req); ok {
		r.settle(w, req, to, got, digest)
	}
}

// expire forgets uploads that nobody goes on with. r.mu is held.
func (r *Registry) expire() {
	for id, u := range r.uploads {
		if !u.busy && r.cfg.Clock().Sub(u.began) > r.cfg.Whole {
			delete(r.uploads, id)
		}
	}
}

func (r *Registry) drop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.uploads, id)
}

// take is an upload for one request; nil if it is not there, or another request has it.
func (r *Registry) take(w http.ResponseWriter, id string) *upload {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	u := r.uploads[id]
	switch {
	case u == nil:
		fail(w, http.StatusNotFound, "BLOB_UPLOAD_UNKNOWN", "there is no such upload; begin anew")
		return nil
	case u.busy:
		fail(w, http.StatusConflict, "BLOB_UPLOAD_INVALID", "another request sends it")
		return nil
	}
	u.busy = true
	return u
}

func (r *Registry) giveBack(u *upload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u.busy = false
}

// send answers PATCH: the content, at once.
func (r *Registry) send(w http.ResponseWriter, req *http.Request, to route) {
	u := r.take(w, to.reference)
	if u == nil {
		return
	}
	defer r.giveBack(u)
	if u.digest != "" {
		fail(w, http.StatusRequestedRangeNotSatisfiable, "BLOB_UPLOAD_INVALID", "a blob comes in one piece here; begin anew")
		return
	}
	digest, size, ok := r.receive(w, req)
	if !ok {
		return
	}
	u.digest, u.size = digest, size
	accepted(w, to, to.reference, size)
}

// finish answers PUT: what was sent has this digest, or the content comes now.
func (r *Registry) finish(w http.ResponseWriter, req *http.Request, to route) {
	digest := req.URL.Query().Get("digest")
	if !protocol.ValidDigest(digest) {
		fail(w, http.StatusBadRequest, "DIGEST_INVALID", "digest is sha256: and 64 hex digits")
		return
	}
	u := r.take(w, to.reference)
	if u == nil {
		return
	}
	defer r.drop(to.reference)
	got := u.digest
	if got == "" {
		var ok bool
		if got, _, ok = r.receive(w, req); !ok {
			return
		}
	} else if n, err := io.CopyN(io.Discard, req.Body, 1); n > 0 || !errors.Is(err, io.EOF) {
		fail(w, http.StatusBadRequest, "BLOB_UPLOAD_INVALID", "a blob comes in one piece here; begin anew")
		return
	}
	r.settle(w, req, to, got, digest)
}

// settle compares what came with what was promised, and has it where all hubs find it.
func (r *Registry) settle(w http.ResponseWriter, req *http.Request, to route, got, want string) {
	if got != want {
		fail(w, http.StatusBadRequest, "DIGEST_INVALID", fmt.Sprintf("what came is %s, not %s", got, want))
		return
	}
	r.sustain(w)
	if _, failed := r.stored(req.Context(), want); failed != nil {
		failed.answer(w)
		return
	}
	created(w, to, want)
}

func (r *Registry) giveUp(w http.ResponseWriter, _ *http.Request, to route) {
	if u := r.take(w, to.reference); u != nil {
		r.drop(to.reference)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (r *Registry) state(w http.ResponseWriter, _ *http.Request, to route) {
	if u := r.take(w, to.reference); u != nil {
		defer r.giveBack(u)
		ranged(w, to, to.reference, u.size)
		w.WriteHeader(http.StatusNoContent)
	}
}

// receive stores a body under the digest that it has. What does not come to its end, in
// time, leaves nothing.
func (r *Registry) receive(w http.ResponseWriter, req *http.Request) (digest string, size int64, ok bool) {
	select {
	case r.sending <- struct{}{}:
		defer func() { <-r.sending }()
	default:
		w.Header().Set("Retry-After", "10")
		fail(w, http.StatusTooManyRequests, "TOOMANYREQUESTS", fmt.Sprintf("%d uploads are being sent; try again", maxSending))
		return "", 0, false
	}
	if req.ContentLength > r.blobs.Capacity() {
		r.full().answer(w)
		return "", 0, false
	}
	body := &patient{r: req.Body, control: http.NewResponseController(w), idle: r.cfg.Idle, end: time.Now().Add(r.cfg.Whole)}
	digest, size, err := r.blobs.Make(req.Context(), r.cfg.Quota, func(out io.Writer) error {
		n, err := io.Copy(out, body)
		if err == nil && req.ContentLength >= 0 && n != req.ContentLength {
			return io.ErrUnexpectedEOF
		}
		return err
	})
	switch {
	case err == nil:
		r.arrive(digest)
		r.metrics.received.Add(float64(size))
		return digest, size, true
	case errors.Is(err, blob.ErrInsufficient) || errors.Is(err, blob.ErrLimit):
		r.full().answer(w)
	default:
		r.cfg.Logger.Info("a blob did not come to its end", "err", err)
		fail(w, http.StatusBadRequest, "BLOB_UPLOAD_INVALID", "the content did not come to its end")
	}
	return "", 0, false
}

// full says that nothing more fits. 507 is what tools show with its words, and no reason to
// try again at once.
func (r *Registry) full() *failure {
	r.metrics.full.Inc()
	return &failure{http.StatusInsufficientStorage, "DENIED", fmt.Sprintf(
		"the hub's registry is full: it may have %d MiB, and leaves %d MiB of its disk alone; delete images, raise registry.quotaMiB of the hub's file, or push to another registry",
		r.cfg.Quota>>20, r.cfg.MinFree>>20)}
}

// patient bounds the time between two pieces of a body, and that of the whole.
type patient struct {
	r       io.Reader
	control *http.ResponseController
	idle    time.Duration
	end     time.Time
}

func (p *patient) Read(b []byte) (int, error) {
	until := time.Now().Add(p.idle)
	if until.After(p.end) {
		until = p.end
	}
	for _, err := range []error{p.control.SetReadDeadline(until), p.control.SetWriteDeadline(until.Add(writeTimeout))} {
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
	}
	return p.r.Read(b)
}

func accepted(w http.ResponseWriter, to route, id string, size int64) {
	ranged(w, to, id, size)
	w.WriteHeader(http.StatusAccepted)
}

func ranged(w http.ResponseWriter, to route, id string, size int64) {
	w.Header().Set("Location", "/v2/"+to.repository+kindUploads+id)
	w.Header().Set("Docker-Upload-UUID", id)
	w.Header().Set("Range", fmt.Sprintf("0-%d", max(0, size-1)))
}

func created(w http.ResponseWriter, to route, digest string) {
	w.Header().Set("Location", "/v2/"+to.repository+kindBlobs+digest)
	w.Header().Set("Docker-Content-Digest", digest)
	w.WriteHeader(http.StatusCreated)
}
