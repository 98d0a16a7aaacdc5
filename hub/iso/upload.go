package iso

import (
	"context"
	"errors"
	"io"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state/blob"
)

// Begin begins an upload, or goes on with the one of the same file and digest; the newest
// word about signature and replacing counts. The codes are invalid (also another digest than an environment
// says), conflict (the name has another content), denied (a key that is not known),
// unsupported, unavailable (no room, too many uploads) and internal.
func (s *Shelf) Begin(ctx context.Context, r protoapi.ISOUploadRequest, by string) (protoapi.ISOUpload, error) {
	const op = "upload file"
	var none protoapi.ISOUpload
	if err := r.Validate(); err != nil {
		return none, err
	}
	if err := s.checkWanted(op, r.File, r.Digest); err != nil {
		return none, err
	}
	if _, err := s.signed(r); err != nil {
		return none, err
	}
	done, err := s.taken(op, r)
	if done || err != nil {
		return protoapi.ISOUpload{File: r.File, Digest: r.Digest, Size: r.Size, Offset: r.Size, Done: done}, err
	}
	if err := s.uploads.checkSize(op, r); err != nil {
		return none, err
	}
	u := &upload{ISOUploadRequest: r, By: by, BegunAt: s.cfg.Clock().UTC(), id: idOf(r.File, r.Digest), used: s.cfg.Clock()}
	fresh, err := s.uploads.enter(op, u)
	if err != nil {
		return none, err
	}
	err = s.uploads.keep(u)
	if err != nil && fresh {
		err = errors.Join(err, s.uploads.forget(u.id))
	}
	if err != nil {
		return none, err
	}
	s.cfg.Crash.At("hub.iso.begun")
	out, err := s.look(ctx, u)
	if errors.Is(err, blob.ErrInsufficient) && fresh { // what was begun before stays
		err = errors.Join(err, s.uploads.forget(u.id))
	}
	return out, err
}

// Upload is an upload as it is. The codes are not_found, unavailable, timeout and internal.
func (s *Shelf) Upload(ctx context.Context, id string) (protoapi.ISOUpload, error) {
	u, err := s.uploads.of("get upload", id)
	if err != nil {
		return protoapi.ISOUpload{}, err
	}
	return s.look(ctx, u)
}

// look reads how far an upload is.
func (s *Shelf) look(ctx context.Context, u *upload) (protoapi.ISOUpload, error) {
	out := s.uploads.said(u)
	c, err := s.contents.take("get upload", u.Digest)
	if err != nil {
		return out, err
	}
	defer s.contents.give(c)
	part, err := s.contents.open(ctx, c, u.Size)
	switch {
	case err != nil:
		return out, err
	case part == nil:
		out.Offset, out.Prefix = u.Size, u.Digest
	default:
		out.Offset, out.Prefix = part.Offset(), part.Sum()
	}
	return out, nil
}

// Append takes the next piece, which begins at offset; what came of it before an error
// stays. It is on disk when Append returns. The codes are invalid, not_found, conflict (the
// offset is another), unavailable, timeout and internal.
func (s *Shelf) Append(ctx context.Context, id string, offset int64, r io.Reader) (protoapi.ISOUpload, error) {
	const op = "upload file"
	u, err := s.uploads.of(op, id)
	if err != nil {
		return protoapi.ISOUpload{}, err
	}
	out := s.uploads.said(u)
	c, err := s.contents.take(op, u.Digest)
	if err != nil {
		return out, err
	}
	defer s.contents.give(c)
	part, err := s.contents.open(ctx, c, u.Size)
	if err != nil {
		return out, err
	}
	out.Offset, out.Prefix = u.Size, u.Digest
	if part != nil {
		out.Offset, out.Prefix = part.Offset(), part.Sum()
	}
	if part == nil || out.Offset != offset {
		return out, protocol.Errorf(protocol.CodeConflict, op, "the piece begins at %d, and %d bytes are there", offset, out.Offset).
			WithHint("go on at %d", out.Offset)
	}
	r = counted{r, func(n int) { s.metrics.received.Add(float64(n)) }}
	_, err = part.Append(ctx, r)
	err = errors.Join(err, part.Sync())
	out.Offset, out.Prefix = part.Offset(), part.Sum()
	s.uploads.touch(u)
	out.ExpiresAt = s.uploads.said(u).ExpiresAt
	return out, err
}

// Abort ends an upload without a file. What came of its content goes unless another upload
// has the same. The codes are not_found, unavailable and internal.
func (s *Shelf) Abort(id string) error {
	const op = "remove upload"
	u, err := s.uploads.of(op, id)
	if err != nil {
		return err
	}
	c, err := s.contents.take(op, u.Digest)
	if err != nil {
		return err
	}
	defer s.contents.give(c)
	return s.abort(op, u, c)
}

func (s *Shelf) abort(op string, u *upload, c *content) error {
	if err := s.uploads.forget(u.id); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if s.uploads.uploading(u.Digest) {
		return nil
	}
	s.contents.shut(c)
	return s.blobs.DropPart(u.Digest)
}

// expire ends the uploads to which nothing came for long.
func (s *Shelf) expire(_ context.Context) {
	for _, u := range s.uploads.all() {
		if s.cfg.Clock().Before(s.uploads.said(u).ExpiresAt) {
			continue
		}
		if err := s.Abort(u.id); err != nil {
			s.log.Warn("an upload that has expired was not removed", "file", u.File, "err", err)
			continue
		}
		s.metrics.ended.WithLabelValues(endExpired).Inc()
		s.log.Info("an upload has expired", "file", u.File, "digest", u.Digest, "by", u.By)
	}
}
