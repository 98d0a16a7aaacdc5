package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"rackboot/protocol"
)

// The media types of manifests that are taken.
const (
	typeManifest       = "application/vnd.oci.image.manifest.v1+json"
	typeIndex          = "application/vnd.oci.image.index.v1+json"
	typeDockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	typeDockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
)

// maxNamed bounds what one manifest names.
const maxNamed = 1000

// named are the digests that a manifest or an index names.
func named(mediaType string, raw []byte) ([]string, error) {
	type descriptor struct {
		Digest string `json:"digest"`
	}
	var m struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        *descriptor  `json:"config"`
		Layers        []descriptor `json:"layers"`
		Manifests     []descriptor `json:"manifests"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	index := mediaType == typeIndex || mediaType == typeDockerList
	switch {
	case !index && mediaType != typeManifest && mediaType != typeDockerManifest:
		return nil, fmt.Errorf("its media type %q is none of a manifest or index of version 2", mediaType)
	case m.SchemaVersion != 2:
		return nil, fmt.Errorf("its schemaVersion is %d, not 2", m.SchemaVersion)
	case m.MediaType != "" && m.MediaType != mediaType:
		return nil, fmt.Errorf("it says of itself that it is %q", m.MediaType)
	case index && (m.Config != nil || m.Layers != nil), !index && (m.Config == nil || m.Manifests != nil):
		return nil, fmt.Errorf("it is both, or neither, of a manifest and an index")
	case len(m.Layers)+len(m.Manifests) > maxNamed:
		return nil, fmt.Errorf("it names more than %d", maxNamed)
	}
	all := slices.Concat(m.Layers, m.Manifests)
	if m.Config != nil {
		all = append(all, *m.Config)
	}
	var out []string
	for _, d := range all {
		if !protocol.ValidDigest(d.Digest) {
			return nil, fmt.Errorf("it names %q, which is no digest of SHA-256", d.Digest)
		}
		out = append(out, d.Digest)
	}
	return out, nil
}

// putManifest takes a manifest when everything that it names is there: then it is whole, and
// it is on disk before the tag says so.
func (r *Registry) putManifest(who Caller) func(http.ResponseWriter, *http.Request, route) {
	return func(w http.ResponseWriter, req *http.Request, to route) {
		body := &patient{r: http.MaxBytesReader(w, req.Body, maxManifest), control: http.NewResponseController(w), idle: r.cfg.Idle, end: time.Now().Add(r.cfg.Whole)}
		raw, err := io.ReadAll(body)
		if err != nil {
			fail(w, http.StatusBadRequest, "MANIFEST_INVALID", fmt.Sprintf("it did not come to its end, or has more than %d bytes", maxManifest))
			return
		}
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
		r.sustain(w)
		if failed := r.recorded(req, who, opPush, to, digest, func() *failure {
			return r.keep(req.Context(), to, req.Header.Get("Content-Type"), digest, raw)
		}); failed != nil {
			failed.answer(w)
			return
		}
		r.cfg.Logger.Info("image pushed", "by", who.Name, "repository", to.repository, "reference", to.reference, "digest", digest)
		w.Header().Set("Location", "/v2/"+to.repository+kindManifests+digest)
		w.Header().Set("Docker-Content-Digest", digest)
		w.WriteHeader(http.StatusCreated)
	}
}

// keep has a manifest in the book, by its digest or under a tag too.
func (r *Registry) keep(ctx context.Context, to route, kind, digest string, raw []byte) *failure {
	byDigest := protocol.ValidDigest(to.reference)
	if byDigest && to.reference != digest {
		return &failure{http.StatusBadRequest, "DIGEST_INVALID", fmt.Sprintf("what came is %s, not %s", digest, to.reference)}
	}
	names, err := named(kind, raw)
	if err != nil {
		return &failure{http.StatusBadRequest, "MANIFEST_INVALID", err.Error()}
	}
	index := kind == typeIndex || kind == typeDockerList
	if r.cfg.Shared != nil {
		return commons{r}.keep(ctx, push{to, digest, manifest{Type: kind, Names: names}, index}, raw)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range names {
		_, manifest := r.book.Repositories[to.repository].Manifests[n]
		if !r.blobs.Has(n) || index && !manifest {
			return &failure{http.StatusBadRequest, "MANIFEST_BLOB_UNKNOWN", "it names " + n + ", which is not here; push that first"}
		}
	}
	if err := r.blobs.Write(ctx, digest, int64(len(raw)), bytes.NewReader(raw)); err != nil {
		return r.full()
	}
	next := r.book.with(to.repository, digest, manifest{Type: kind, Names: names})
	if !byDigest {
		next = next.tagged(to.repository, to.reference, digest)
	}
	if err := next.check(); err != nil {
		return &failure{http.StatusInsufficientStorage, "DENIED", err.Error()}
	}
	return r.turn(next)
}

// turn makes a book that of the registry once it is on disk. r.mu is held.
func (r *Registry) turn(next book) *failure {
	if err := next.write(r.cfg.Dir); err != nil {
		r.cfg.Logger.Error("the registry's book was not written", "err", err)
		return &failure{http.StatusInternalServerError, "UNKNOWN", "the hub's disk did not take it; see the hub's log"}
	}
	r.book = next
	return nil
}

func (r *Registry) getManifest(w http.ResponseWriter, req *http.Request, to route) {
	repo, failed := r.repository(to.repository)
	digest := to.reference
	if tagged, is := repo.Tags[to.reference]; is {
		digest = tagged
	}
	m, there := repo.Manifests[digest]
	var f *os.File
	var size int64
	if there {
		f, size, failed = r.open(req.Context(), digest)
	}
	if failed == nil && f == nil {
		failed = &failure{http.StatusNotFound, "MANIFEST_UNKNOWN", "there is no " + to.reference + " in " + to.repository}
	}
	if failed != nil {
		failed.answer(w)
		return
	}
	defer func() { _ = f.Close() }() // it is only read
	w.Header().Set("Content-Type", m.Type)
	w.Header().Set("Docker-Content-Digest", digest)
	w.Header().Set("ETag", `"`+digest+`"`)
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	if req.Method == http.MethodGet {
		_, _ = io.Copy(w, f) // the client may be gone
	}
}

// deleteManifest takes a tag away, or by its digest a manifest with every tag of it. What an
// index names goes after the index.
func (r *Registry) deleteManifest(who Caller) func(http.ResponseWriter, *http.Request, route) {
	return func(w http.ResponseWriter, req *http.Request, to route) {
		digest := to.reference
		if !protocol.ValidDigest(digest) {
			repo, _ := r.repository(to.repository) // for the entry alone
			digest = repo.Tags[to.reference]
		}
		if failed := r.recorded(req, who, opDelete, to, digest, func() *failure { return r.forget(req.Context(), to) }); failed != nil {
			failed.answer(w)
			return
		}
		r.cfg.Logger.Info("image deleted", "by", who.Name, "repository", to.repository, "reference", to.reference, "digest", digest)
		w.WriteHeader(http.StatusAccepted)
	}
}

// forget takes a reference out of the book.
func (r *Registry) forget(ctx context.Context, to route) *failure {
	if r.cfg.Shared != nil {
		return commons{r}.forget(ctx, to)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next, failed := r.book.forget(to)
	if failed != nil {
		return failed
	}
	return r.turn(next)
}

// forget is the book without a reference, if nothing needs it.
func (b book) forget(to route) (book, *failure) {
	if by := b.namedBy(to.repository, to.reference); by != "" {
		return b, &failure{http.StatusConflict, "DENIED", "the index " + by + " names it; delete that first"}
	}
	next, was := b.without(to.repository, to.reference)
	if !was {
		return b, &failure{http.StatusNotFound, "MANIFEST_UNKNOWN", "there is no " + to.reference + " in " + to.repository}
	}
	return next, nil
}

// tags lists the tags of a repository, in order.
func (r *Registry) tags(w http.ResponseWriter, _ *http.Request, to route) {
	repo, failed := r.repository(to.repository)
	tags := repo.tags()
	if failed != nil {
		failed.answer(w)
		return
	}
	if len(repo.Manifests) == 0 {
		fail(w, http.StatusNotFound, "NAME_UNKNOWN", "there is no repository "+to.repository)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": to.repository, "tags": tags}) // the client may be gone
}
