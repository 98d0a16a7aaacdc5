package iso

import (
	"context"
	"errors"
	"io"

	"rackboot/netboot/fsview"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

// Receiving is a content that the hub itself fetches, by its digest. Nobody sends to it
// meanwhile. It is for one goroutine, whose Close ends it.
type Receiving struct {
	s    *Shelf
	c    *content
	part *blob.Part
	size int64
}

// Receive begins a content of size bytes, or goes on with what is there of it; it is nil
// without an error if the content is complete. The codes are invalid, conflict (somebody
// uploads it with another size), unavailable (no room, somebody sends it just now),
// timeout and internal.
func (s *Shelf) Receive(ctx context.Context, digest string, size int64) (*Receiving, error) {
	const op = "receive file"
	if size > protoapi.MaxISOSize {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has %d bytes, and a file may have %d", size, int64(protoapi.MaxISOSize)).WithHint("is it the right URL?")
	}
	if s.blobs.Has(digest) {
		return nil, nil
	}
	if s.uploads.sizeOf(digest, size) != size {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "%s has %d bytes, and an upload says another size", digest, size).WithHint("rackctl iso list shows it; rackctl iso remove --upload ends it")
	}
	c, err := s.contents.take(op, digest)
	if err != nil {
		return nil, err
	}
	if c.part == nil {
		if c.part, err = s.blobs.Part(ctx, digest, size); err != nil || c.part == nil {
			s.contents.give(c)
			return nil, err
		}
	}
	return &Receiving{s: s, c: c, part: c.part, size: size}, nil
}

// Offset is how many bytes are there.
func (r *Receiving) Offset() int64 { return r.part.Offset() }

// Append writes what comes next, until body ends; what came before an error stays, and is
// on disk. The codes are those of [Shelf.Append].
func (r *Receiving) Append(ctx context.Context, body io.Reader) error {
	_, err := r.part.Append(ctx, body)
	return errors.Join(err, r.part.Sync())
}

// Finish makes it a content. One that does not have the digest is removed as a whole, and
// is invalid; one that is not complete stays, and is a conflict.
func (r *Receiving) Finish() error {
	if at := r.Offset(); at < r.size {
		return protocol.Errorf(protocol.CodeConflict, "receive file", "%d of %d bytes are there", at, r.size)
	}
	err := r.part.Finish()
	if err == nil || protocol.CodeOf(err) == protocol.CodeInvalid {
		r.c.part = nil
	}
	return err
}

// Drop removes what came.
func (r *Receiving) Drop() error {
	r.c.part = nil
	return r.part.Drop()
}

// Close keeps what is there, for another time.
func (r *Receiving) Close() {
	r.s.contents.shut(r.c)
	r.s.contents.give(r.c)
}

// Has says whether a content is there, complete and compared with its digest.
func (s *Shelf) Has(digest string) bool { return s.blobs.Has(digest) }

// Partial is how many bytes there are of a content that is not complete.
func (s *Shelf) Partial(digest string) int64 {
	for _, p := range s.blobs.Parts() {
		if p.Digest == digest {
			return p.Bytes
		}
	}
	return 0
}

// Unpack makes a content of what a compressed one is, and returns its size; one that does
// not have the digest that it is to have is invalid, and is collected. The codes are besides
// not_found, unavailable (no room), timeout and internal.
func (s *Shelf) Unpack(ctx context.Context, packed, want string) (size int64, err error) {
	const op = "unpack file"
	if !s.blobs.Has(want) {
		src, _, err := s.blobs.Open(packed)
		if err != nil {
			return 0, err
		}
		defer src.Close()
		got, _, err := s.blobs.Make(ctx, protoapi.MaxISOSize, func(w io.Writer) error { return fsview.Unpack(ctx, src, w) })
		if err != nil {
			return 0, err
		}
		if got != want {
			// What it is instead is named by nothing, and goes with the next collections; it may
			// be a content that was there before.
			return 0, protocol.Errorf(protocol.CodeInvalid, op, "what is in it has %s, not %s", got, want).WithHint("the entry is of another file, or wrong")
		}
	}
	f, size, err := s.blobs.Open(want)
	if err != nil {
		return 0, err
	}
	return size, f.Close()
}

// CheckSignature checks a detached signature of a content that is there, with the hub's
// own keys. The codes are unsupported (the hub has no keys), invalid, denied (a key that is
// not known), not_found, timeout and internal.
func (s *Shelf) CheckSignature(ctx context.Context, digest string, scheme resource.SignatureScheme, signature []byte) (*resource.ISOSignature, error) {
	const op = "check signature"
	if err := s.Judges(scheme); err != nil {
		return nil, err
	}
	if err := s.keys.Known(signature); err != nil {
		return nil, err
	}
	f, _, err := s.blobs.Open(digest)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &resource.ISOSignature{Scheme: scheme, Keyring: resource.KeyringHub}
	out.Key, out.By, err = s.keys.Check(until{ctx, f}, signature, s.cfg.Clock())
	switch {
	case ctx.Err() != nil:
		return nil, protocol.Errorf(protocol.CodeTimeout, op, "it was not checked in time: %w", ctx.Err())
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the signature does not fit the file: %w", err).WithHint("it is of another file, or one of the two was changed")
	}
	return out, nil
}

// Judges says why the hub could not check a signature of a scheme: unsupported. An empty
// scheme is no signature, which is denied where the hub takes signed files only.
func (s *Shelf) Judges(scheme resource.SignatureScheme) error {
	const op = "check signature"
	switch {
	case scheme == "" && s.cfg.RequireSignature:
		return protocol.Errorf(protocol.CodeDenied, op, "this hub takes signed files only").WithHint("give the URL of the signature in the entry")
	case scheme == "":
	case scheme != resource.SignatureOpenPGP || s.keys == nil:
		return protocol.Errorf(protocol.CodeUnsupported, op, "the hub has no keys to check a signature by %s with", scheme).
			WithHint("put the keys of who publishes the file into isos.keyring of the hub's file")
	}
	return nil
}
