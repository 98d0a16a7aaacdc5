package registry

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/state/file"
)

const (
	// movedFile is the folder's book as it was before it was moved to the store.
	movedFile = "book.moved.json"
	moveAgain = time.Minute
)

// mover is a registry whose book may lie where it is read no more.
type mover struct{ reg *Registry }

// move brings a book to where it is read from now on: from the folder to the store of all hubs, or from there to the
// folder. What it returns says when that is to be tried again; nil is never.
func (m mover) move(ctx context.Context) <-chan time.Time {
	r := m.reg
	err := m.share(ctx)
	if err == nil {
		err = m.takeBack(ctx)
	}
	if err == nil || ctx.Err() != nil {
		return nil
	}
	r.cfg.Logger.Warn("the registry's book is not all where it is read now; it is tried again", "err", err, "hint", protocol.HintOf(err))
	return time.After(moveAgain)
}

// share puts what the folder's book has into that of all hubs, a repository at a time: each that is there is out of the
// folder's. Without a store of several hubs there is nothing to do.
func (m mover) share(ctx context.Context) error {
	r := m.reg
	r.mu.Lock()
	was := r.book
	r.mu.Unlock()
	if r.cfg.Shared == nil || len(was.Repositories) == 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(r.cfg.Dir, movedFile)); errors.Is(err, fs.ErrNotExist) {
		if err := was.writeAs(r.cfg.Dir, movedFile); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was.Repositories)) {
		if err := m.shareOne(ctx, name, was.Repositories[name]); err != nil {
			return err
		}
		r.mu.Lock()
		next := book{Version: bookVersion, Repositories: maps.Clone(r.book.Repositories)}
		delete(next.Repositories, name)
		failed := r.turn(next)
		r.mu.Unlock()
		if failed != nil {
			return protocol.Errorf(protocol.CodeUnavailable, "move the registry's book", "%s", failed.message)
		}
	}
	return nil
}

// shareOne puts the manifests of one repository there, what an index names first. What is damaged here, and what has no
// room there, is left out and logged.
func (m mover) shareOne(ctx context.Context, name string, was repository) error {
	r := m.reg
	for _, digest := range was.order() {
		image := was.Manifests[digest]
		p := push{route{name, kindManifests, digest}, digest, image, image.index()}
		var differ []string
		failed := commons{r}.enter(ctx, name, p.needs(), func(b book) (book, *failure) {
			next, failed := p.into(b)
			if failed == nil {
				next, differ = next.tagsOf(name, digest, was.Tags)
			}
			return next, failed
		})
		switch {
		case failed != nil && failed.status == http.StatusServiceUnavailable:
			return protocol.Errorf(protocol.CodeUnavailable, "move the registry's book", "%s: %s", name, failed.message)
		case failed != nil:
			r.cfg.Logger.Warn("an image of this hub's folder is not in the registry of all hubs; push it again", "repository", name, "digest", digest, "why", failed.message)
		}
		for _, tag := range differ {
			r.cfg.Logger.Warn("a tag of this hub's folder is another image in the registry of all hubs, and stays that", "repository", name, "tag", tag, "here", digest)
		}
	}
	r.cfg.Logger.Info("a repository of this hub's folder is in the registry of all hubs", "repository", name)
	return nil
}

// order has what an index names before it.
func (r repository) order() (out []string) {
	done := map[string]bool{}
	var visit func(string)
	visit = func(digest string) {
		m, there := r.Manifests[digest]
		if !there || done[digest] {
			return
		}
		done[digest] = true
		for _, n := range m.Names {
			visit(n)
		}
		out = append(out, digest)
	}
	for _, digest := range slices.Sorted(maps.Keys(r.Manifests)) {
		visit(digest)
	}
	return out
}

func (m manifest) index() bool { return m.Type == typeIndex || m.Type == typeDockerList }

// tagsOf is the book with the tags of a manifest that it does not have; those that it has for another one it keeps.
func (b book) tagsOf(name, digest string, tags map[string]string) (next book, differ []string) {
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		has, there := b.Repositories[name].Tags[tag]
		switch {
		case tags[tag] != digest:
		case !there:
			b = b.tagged(name, tag, digest)
		case has != digest:
			differ = append(differ, tag)
		}
	}
	return b, differ
}

// takeBack puts what hubs shared into the folder's book, after the store came into the folder. What they had counts.
func (m mover) takeBack(ctx context.Context) error {
	r := m.reg
	if r.cfg.Former == nil || r.cfg.Shared != nil {
		return nil
	}
	all, err := r.cfg.Former.List()
	if err != nil {
		return err
	}
	for _, have := range all {
		r.mu.Lock()
		next, page := r.book.edit(have.Name)
		maps.Copy(page.Manifests, pageOf(have).Manifests)
		maps.Copy(page.Tags, have.Tags)
		failed := r.turn(next)
		r.mu.Unlock()
		if failed != nil {
			return protocol.Errorf(protocol.CodeUnavailable, "move the registry's book", "%s", failed.message)
		}
		if err := r.cfg.Former.Remove(ctx, have); err != nil {
			return err
		}
		r.cfg.Logger.Info("a repository of the registry of all hubs is in this hub's folder", "repository", have.Name)
	}
	return nil
}

// writeAs writes the book under a name of the folder; it is on disk when that returns.
func (b book) writeAs(dir, name string) error {
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return file.Replace(filepath.Join(dir, name), raw, 0o600)
}
