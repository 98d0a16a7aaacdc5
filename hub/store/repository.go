package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"rackboot/protocol"
	"rackboot/state"
)

// MaxRepository bounds the record of one repository in bytes: some hundred manifests.
const MaxRepository = 256 << 10

// ErrRepositoryFull is that a repository's record has no room for more.
var ErrRepositoryFull = errors.New("the repository has all the manifests and tags that fit")

// Repository says what the registry of hubs that share a store has under one name. A hub whose store is in its folder has
// that in its folder too.
type Repository struct {
	Name      string                        `json:"name"`
	Manifests map[string]RepositoryManifest `json:"manifests"`      // by digest
	Tags      map[string]string             `json:"tags,omitempty"` // digests
	Revision  uint64                        `json:"-"`              // for compare-and-set; 0 creates
}

// RepositoryManifest is a manifest or an index.
type RepositoryManifest struct {
	Type  string   `json:"type"`
	Names []string `json:"names"` // digests
}

// Repositories is the book of the registry of all hubs.
type Repositories struct{ core *core }

// repositoryKey: names have slashes and dots, which keys cannot have.
func repositoryKey(name string) string {
	return fmt.Sprintf("%s.%x", repositoryBucket, sha256.Sum256([]byte(name)))
}

// Get is a repository as this hub has heard of it; one that is not there has nothing.
func (rs *Repositories) Get(name string) (Repository, error) {
	e, ok := rs.core.mirror.get(repositoryKey(name))
	if !ok {
		return Repository{Name: name}, nil
	}
	return repositoryOf(e.Entry)
}

// Newest reads one from the store itself; one without a revision is not there. The codes are internal, unavailable and
// timeout.
func (rs *Repositories) Newest(ctx context.Context, name string) (Repository, error) {
	e, err := rs.core.kv.Get(ctx, repositoryKey(name))
	switch {
	case errors.Is(err, state.ErrNotFound):
		return Repository{Name: name}, nil
	case err != nil:
		return Repository{}, stateError("read a repository", err)
	}
	return repositoryOf(e)
}

// List lists them in order of their names. With one that cannot be read there is an error: nobody knows what it needs.
func (rs *Repositories) List() (out []Repository, err error) {
	for _, e := range rs.core.mirror.list(repositoryBucket) {
		r, err := repositoryOf(e.Entry)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Repository) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Needed are the digests that a manifest of the book is or names.
func (rs *Repositories) Needed() (map[string]bool, error) {
	all, err := rs.List()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, r := range all {
		for digest, m := range r.Manifests {
			out[digest] = true
			for _, n := range m.Names {
				out[n] = true
			}
		}
	}
	return out, nil
}

// PutKept writes one, compare-and-set on its revision, which it updates, and touches the contents that its manifests have
// come to need: all or nothing, so that none of them is removed from the servers from now on. The codes are invalid
// ([ErrRepositoryFull] too), conflict, unavailable and timeout.
func (rs *Repositories) PutKept(ctx context.Context, r *Repository, contents ...Content) error {
	const op = "put repository"
	value, err := json.Marshal(r)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if len(value) > MaxRepository {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s: %w: its record would have %d bytes, and %d is the most", r.Name, ErrRepositoryFull, len(value), MaxRepository).
			WithHint("delete images that nobody needs, or push to another repository")
	}
	ops := []state.Op{write(repositoryKey(r.Name), value, r.Revision)}
	for _, c := range contents {
		c.Touched = rs.core.clock().UTC()
		o, err := c.write(op)
		if err != nil {
			return err
		}
		ops = append(ops, o)
	}
	revisions, err := rs.core.commit(ctx, ops)
	if err != nil {
		return stateError(op, err)
	}
	r.Revision = revisions[0]
	return nil
}

// Remove removes one at its revision. The codes are conflict, unavailable and timeout.
func (rs *Repositories) Remove(ctx context.Context, r Repository) error {
	if err := rs.core.remove(ctx, repositoryKey(r.Name), r.Revision); err != nil {
		return stateError("remove repository", err)
	}
	return nil
}

func repositoryOf(e state.Entry) (Repository, error) {
	r := Repository{}
	err := json.Unmarshal(e.Value, &r)
	if err == nil && repositoryKey(r.Name) != e.Key {
		err = fmt.Errorf("it says that it is of %.300q", r.Name)
	}
	if err != nil {
		return Repository{}, protocol.Errorf(protocol.CodeInternal, "read a repository", "%q: %w", e.Key, err).
			WithHint("a newer hub may have written it; start that version, or restore the store")
	}
	r.Revision = e.Revision
	return r, nil
}
