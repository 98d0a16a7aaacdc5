package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/blob"
)

// Shared is where hubs that share a store have the registry's book and its blobs.
type Shared struct {
	Book     *store.Repositories
	Contents *store.Contents
	// Depot has the blobs; nil while nothing can be written: the store has lost something.
	Depot Depot
}

// Depot has blobs where all hubs of the store find them.
type Depot interface {
	// Keep has a blob of the folder there, all of it, and returns its record, which was touched just now. What is there
	// need not be in the folder.
	Keep(ctx context.Context, digest string) (store.Content, error)
	// Want has one fetched soon, and reports whether there is one to fetch.
	Want(digest string) bool
}

// commons is a registry whose book all hubs change.
type commons struct{ reg *Registry }

const (
	// bookTries bounds how often a change begins again because another hub has changed the same.
	bookTries = 16
	// openWait is how long a pull waits for a blob that is fetched, and openLook how often it looks.
	openWait = 20 * time.Second
	openLook = 100 * time.Millisecond
	// maxNamedShared is what one manifest may name where it is written in one commit with a record for each.
	maxNamedShared = state.MaxOps - 10
)

// sustain gives an answer the time of a whole upload: what it says is on the servers before it is said.
func (r *Registry) sustain(w http.ResponseWriter) {
	if r.cfg.Shared == nil {
		return
	}
	control, end := http.NewResponseController(w), time.Now().Add(r.cfg.Whole)
	if err := errors.Join(control.SetReadDeadline(end), control.SetWriteDeadline(end)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		r.cfg.Logger.Debug("the time of a push was not extended", "err", err)
	}
}

// repository is one as this hub has heard of it.
func (r *Registry) repository(name string) (repository, *failure) {
	if r.cfg.Shared == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.book.Repositories[name], nil
	}
	have, err := r.cfg.Shared.Book.Get(name)
	if err != nil {
		return repository{}, r.unwritten(err)
	}
	return pageOf(have), nil
}

// pageOf and recordOf are a repository in the folder's form and in that of the store.
func pageOf(have store.Repository) repository {
	out := repository{Manifests: map[string]manifest{}, Tags: have.Tags}
	for digest, m := range have.Manifests {
		out.Manifests[digest] = manifest(m)
	}
	return out
}

func recordOf(page repository, name string, revision uint64) store.Repository {
	out := store.Repository{Name: name, Manifests: map[string]store.RepositoryManifest{}, Tags: page.Tags, Revision: revision}
	for digest, m := range page.Manifests {
		out.Manifests[digest] = store.RepositoryManifest(m)
	}
	return out
}

// bookOf is a book with one repository.
func bookOf(have store.Repository) book {
	b := book{Version: bookVersion}
	if len(have.Manifests) > 0 {
		b.Repositories = map[string]repository{have.Name: pageOf(have)}
	}
	return b
}

// push is a manifest that is to be in the book.
type push struct {
	to     route
	digest string
	manifest
	index bool
}

// into is the book with it, if what an index names is there.
func (p push) into(b book) (book, *failure) {
	for _, n := range p.Names {
		if _, there := b.Repositories[p.to.repository].Manifests[n]; p.index && !there {
			return b, unknown(n)
		}
	}
	b = b.with(p.to.repository, p.digest, p.manifest)
	if p.to.reference != p.digest {
		b = b.tagged(p.to.repository, p.to.reference, p.digest)
	}
	return b, nil
}

func unknown(digest string) *failure {
	return &failure{http.StatusBadRequest, "MANIFEST_BLOB_UNKNOWN", "it names " + digest + ", which is not here; push that first"}
}

// needs are the blobs that it is and names, each once.
func (p push) needs() []string {
	out := append(slices.Clone(p.Names), p.digest)
	slices.Sort(out)
	return slices.Compact(out)
}

// keep has a manifest in the book of all hubs once everything that it names is on the servers. All of these say in
// the same commit that they are needed, so that none is removed meanwhile.
func (c commons) keep(ctx context.Context, p push, raw []byte) *failure {
	r := c.reg
	if len(p.needs()) > maxNamedShared {
		return &failure{http.StatusBadRequest, "MANIFEST_INVALID", fmt.Sprintf("it names more than %d", maxNamedShared-1)}
	}
	if err := r.blobs.Write(ctx, p.digest, int64(len(raw)), bytes.NewReader(raw)); err != nil {
		return r.full()
	}
	r.arrive(p.digest)
	return c.enter(ctx, p.to.repository, p.needs(), p.into)
}

// enter changes a repository of the book of all hubs, with what it needs on the servers. Of two hubs that change one at
// once, the second begins again with what the first has made of it.
func (c commons) enter(ctx context.Context, name string, needs []string, change func(book) (book, *failure)) *failure {
	r := c.reg
	for range bookTries {
		var kept []store.Content
		for _, digest := range needs {
			content, failed := r.stored(ctx, digest)
			if failed != nil {
				return failed
			}
			kept = append(kept, content)
		}
		have, err := r.cfg.Shared.Book.Newest(ctx, name)
		if err != nil {
			return r.unwritten(err)
		}
		next, failed := change(bookOf(have))
		if failed == nil && len(needs) > 0 {
			failed = c.fits(name, next)
		}
		if failed != nil {
			return failed
		}
		row := recordOf(next.Repositories[name], name, have.Revision)
		if len(row.Manifests) == 0 {
			err = r.cfg.Shared.Book.Remove(ctx, have)
		} else {
			err = r.cfg.Shared.Book.PutKept(ctx, &row, kept...)
		}
		switch {
		case err == nil:
			return nil
		case protocol.CodeOf(err) != protocol.CodeConflict:
			return r.unwritten(err)
		}
	}
	return &failure{http.StatusServiceUnavailable, "UNAVAILABLE", "other hubs change " + name + " all the time; try again"}
}

// forget takes a reference out of the book of all hubs.
func (c commons) forget(ctx context.Context, to route) *failure {
	return c.enter(ctx, to.repository, nil, func(b book) (book, *failure) { return b.forget(to) })
}

// fits says why the book of all hubs has no room for a repository as it is to be.
func (c commons) fits(name string, next book) *failure {
	r := c.reg
	all, err := r.cfg.Shared.Book.List()
	if err != nil {
		return r.unwritten(err)
	}
	together := book{Repositories: map[string]repository{}}
	for _, have := range all {
		together.Repositories[have.Name] = pageOf(have)
	}
	together.Repositories[name] = next.Repositories[name]
	if err := together.check(); err != nil {
		return &failure{http.StatusInsufficientStorage, "DENIED", err.Error()}
	}
	return nil
}

// stored has a blob where all hubs find it; of a registry of one hub it is where it came.
func (r *Registry) stored(ctx context.Context, digest string) (c store.Content, _ *failure) {
	switch {
	case r.cfg.Shared == nil:
		return c, nil
	case r.cfg.Shared.Depot == nil:
		return c, &failure{http.StatusServiceUnavailable, "UNAVAILABLE", "the hub's store has lost something, and is only read; see the hub's log"}
	}
	ctx, stop := context.WithTimeout(ctx, r.cfg.Whole)
	defer stop()
	c, err := r.cfg.Shared.Depot.Keep(ctx, digest)
	switch code := protocol.CodeOf(err); {
	case err == nil:
		return c, nil
	case errors.Is(err, blob.ErrInsufficient):
		r.metrics.full.Inc()
		return c, &failure{http.StatusInsufficientStorage, "DENIED", err.Error()}
	case code == protocol.CodeNotFound || code == protocol.CodeInvalid:
		return c, unknown(digest)
	}
	return c, r.unwritten(err)
}

// unwritten is what a push is answered that the store did not take.
func (r *Registry) unwritten(err error) *failure {
	if errors.Is(err, store.ErrRepositoryFull) {
		return &failure{http.StatusInsufficientStorage, "DENIED", err.Error() + "; " + protocol.HintOf(err)}
	}
	r.cfg.Logger.Warn("the store did not do what the registry asked", "err", err, "hint", protocol.HintOf(err))
	return &failure{http.StatusServiceUnavailable, "UNAVAILABLE", "the hub's store did not do it; try again, and see the hub's log"}
}

// elsewhere reports whether the book of all hubs names a blob that is not here yet, and its size.
func (r *Registry) elsewhere(digest string) (size int64, is bool) {
	s := r.cfg.Shared
	if s == nil || s.Depot == nil || r.blobs.Has(digest) {
		return 0, false
	}
	c, err := s.Contents.Get(digest)
	if err != nil {
		return 0, false
	}
	named, err := r.cfg.Shared.Book.Needed()
	return c.Size, err == nil && named[digest]
}

// open opens a blob; one that this hub has yet to fetch it waits for. Nil without a failure is one that is not there.
func (r *Registry) open(ctx context.Context, digest string) (f *os.File, size int64, _ *failure) {
	if _, elsewhere := r.elsewhere(digest); elsewhere && !r.await(ctx, digest) {
		r.metrics.late.Inc()
		return nil, 0, &failure{http.StatusServiceUnavailable, "UNAVAILABLE", "this hub still fetches " + digest + " from the servers of its store; try again"}
	}
	f, size, err := r.blobs.Open(digest)
	if err != nil {
		return nil, 0, nil //nolint:nilerr // it is not there
	}
	return f, size, nil
}

// await waits a moment for a blob.
func (r *Registry) await(ctx context.Context, digest string) bool {
	ctx, stop := context.WithTimeout(ctx, openWait)
	defer stop()
	look := time.NewTicker(openLook)
	defer look.Stop()
	for !r.blobs.Has(digest) {
		r.cfg.Shared.Depot.Want(digest)
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
	}
	return true
}
