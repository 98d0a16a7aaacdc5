package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"rackboot/protocol"
)

const (
	bookFile     = "book.json"
	bookVersion  = 1
	maxBook      = 64 << 20
	maxManifests = 10_000 // of all repositories, with their tags
)

// book says what is in the repositories. It is never changed: each change makes another.
type book struct {
	Version      int                   `json:"version"`
	Repositories map[string]repository `json:"repositories"`
}

type repository struct {
	Manifests map[string]manifest `json:"manifests"`      // by digest
	Tags      map[string]string   `json:"tags,omitempty"` // digests
}

type manifest struct {
	Type  string   `json:"type"`
	Names []string `json:"names"` // digests
}

// tags are never nil: a client reads a list.
func (r repository) tags() []string {
	tags := slices.AppendSeq([]string{}, maps.Keys(r.Tags))
	slices.Sort(tags)
	return tags
}

func readBook(dir string) (book, error) {
	const op = "read the registry's book"
	path := filepath.Join(dir, bookFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return book{Version: bookVersion}, nil
	}
	if err != nil {
		return book{}, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	var b book
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil || b.Version != bookVersion {
		return book{}, protocol.Errorf(protocol.CodeInvalid, op, "%s is not of version %d, or damaged (%v)", path, bookVersion, err).
			WithHint("restore it from the backup; or move the folder away, and push the images again")
	}
	return b, nil
}

// write replaces the file as a whole; it is on disk when write returns.
func (b book) write(dir string) error { return b.writeAs(dir, bookFile) }

// edit is a copy of the book with a copy of one repository, which may be changed.
func (b book) edit(name string) (book, repository) {
	b.Repositories = maps.Clone(b.Repositories)
	if b.Repositories == nil {
		b.Repositories = map[string]repository{}
	}
	r := b.Repositories[name]
	r.Manifests, r.Tags = maps.Clone(r.Manifests), maps.Clone(r.Tags)
	if r.Manifests == nil {
		r.Manifests = map[string]manifest{}
	}
	if r.Tags == nil {
		r.Tags = map[string]string{}
	}
	b.Repositories[name] = r
	return b, r
}

func (b book) with(name, digest string, m manifest) book {
	next, r := b.edit(name)
	r.Manifests[digest] = m
	return next
}

func (b book) tagged(name, tag, digest string) book {
	next, r := b.edit(name)
	r.Tags[tag] = digest
	return next
}

// without is the book without a tag, or without a manifest and its tags; was says whether
// there was one.
func (b book) without(name, reference string) (next book, was bool) {
	next, r := b.edit(name)
	if _, was = r.Tags[reference]; was {
		delete(r.Tags, reference)
	} else if _, was = r.Manifests[reference]; was {
		delete(r.Manifests, reference)
		maps.DeleteFunc(r.Tags, func(_, digest string) bool { return digest == reference })
	}
	if len(r.Manifests) == 0 {
		delete(next.Repositories, name)
	}
	return next, was
}

// namedBy is a manifest of the repository that names another one; empty if none does.
func (b book) namedBy(name, digest string) string {
	for by, m := range b.Repositories[name].Manifests {
		if slices.Contains(m.Names, digest) {
			return by
		}
	}
	return ""
}

// check says why there is no room for the book.
func (b book) check() error {
	n := 0
	for _, r := range b.Repositories {
		n += len(r.Manifests) + len(r.Tags)
	}
	if n > maxManifests {
		return fmt.Errorf("the hub's registry has %d manifests and tags, the most that it keeps; delete some, or push to another registry", maxManifests)
	}
	return nil
}

// needed are the digests that a manifest of the book is or names.
func (b book) needed() map[string]bool {
	out := map[string]bool{}
	for _, r := range b.Repositories {
		for digest, m := range r.Manifests {
			out[digest] = true
			for _, n := range m.Names {
				out[n] = true
			}
		}
	}
	return out
}
