package contents

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"

	"rackboot/hub/iso"
	"rackboot/protocol"
)

// Shelf is a folder of the hub with contents: uploaded files, or what its registry has.
type Shelf interface {
	Has(digest string) bool
	OpenContent(digest string) (*os.File, int64, error)
	// Receive begins a content, or goes on with what is there of it; it is nil if the content is complete.
	Receive(ctx context.Context, digest string, size int64) (Receiving, error)
	// Verify compares a content with its digest; a damaged one is removed.
	Verify(ctx context.Context, digest string) error
	// Named are the contents that the folder is to have. While it fails nobody knows what is needed.
	Named() (map[string]bool, error)
}

// Receiving is a content that comes into a folder.
type Receiving interface {
	// Offset is how many bytes are there.
	Offset() int64
	// Append writes what comes next; what came before an error stays.
	Append(ctx context.Context, body io.Reader) error
	// Finish makes it a content once it was compared with its digest.
	Finish() error
	// Close keeps what is there, for another time.
	Close()
}

// Uploads is the folder of uploaded files as a Room sees it.
func Uploads(s *iso.Shelf) Shelf { return uploads{s} }

type uploads struct{ *iso.Shelf }

// Receive implements Shelf.
func (u uploads) Receive(ctx context.Context, digest string, size int64) (Receiving, error) {
	in, err := u.Shelf.Receive(ctx, digest, size)
	if in == nil || err != nil {
		return nil, err
	}
	return in, nil
}

// stand is a shelf, and what it is to have.
type stand struct {
	Shelf
	named map[string]bool
}

func (p stand) lacks(digest string) bool { return p.named[digest] && !p.Has(digest) }

// stands looks what each folder is to have.
func (r *Room) stands() (all []stand, named map[string]bool, err error) {
	named = map[string]bool{}
	for _, s := range r.shelves {
		n, err := s.Named()
		if err != nil {
			return nil, nil, err
		}
		all = append(all, stand{s, n})
		maps.Copy(named, n)
	}
	return all, named, nil
}

// needed adds to what folders are to have what other hubs need.
func (r *Room) needed(named map[string]bool) (map[string]bool, error) {
	if r.cfg.Needed == nil {
		return named, nil
	}
	others, err := r.cfg.Needed()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(named)
	maps.Copy(all, others)
	return all, nil
}

// openContent opens it in the first folder that has it.
func (r *Room) openContent(digest string) (f *os.File, size int64, err error) {
	for _, s := range r.shelves {
		if s.Has(digest) {
			return s.OpenContent(digest)
		}
	}
	return nil, 0, protocol.Errorf(protocol.CodeNotFound, "open content", "%s is in no folder of this hub", digest)
}

// verify compares a content with its digest in each folder that has it.
func (r *Room) verify(ctx context.Context, digest string) (err error) {
	for _, s := range r.shelves {
		if s.Has(digest) {
			err = errors.Join(err, s.Verify(ctx, digest))
		}
	}
	return err
}
