package iso

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state/blob"
	"rackboot/state/file"
)

// maxUploads bounds the uploads that have not ended.
const maxUploads = 32

// upload is one that has not ended, as it is on disk. Its file's modification time is when
// something came last.
type upload struct {
	protoapi.ISOUploadRequest
	By      string    `json:"by"`
	BegunAt time.Time `json:"begunAt"`

	id   string
	used time.Time // guarded by Shelf.mu
}

// idOf follows from name and digest, so that an upload is found again.
func idOf(file, digest string) string {
	sum := sha256.Sum256([]byte(file + "\x00" + digest))
	return hex.EncodeToString(sum[:16])
}

func (s *Shelf) uploadPath(id string) string { return s.path("uploads", id+".json") }

// loadUploads reads the uploads that a restart has cut off.
func (s *Shelf) loadUploads() error {
	const op = "open uploaded files"
	files, err := os.ReadDir(s.path("uploads"))
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	for _, f := range files {
		path := s.path("uploads", f.Name())
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok { // of a write that was cut off
			if err := os.Remove(path); err != nil {
				return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
			}
			continue
		}
		u, err := readUpload(path)
		if err == nil && u.id != id {
			err = errors.New("it is of another upload")
		}
		if err != nil {
			s.log.Error("an upload cannot be read and is forgotten", "path", path, "err", err)
			if err := os.Remove(path); err != nil {
				return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
			}
			continue
		}
		s.uploads[id] = u
	}
	return nil
}

func readUpload(path string) (*upload, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	u := &upload{used: info.ModTime()}
	if err := json.Unmarshal(raw, u); err != nil {
		return nil, err
	}
	u.id = idOf(u.File, u.Digest)
	return u, u.Validate()
}

// keep writes an upload to disk, as a whole.
func (s *Shelf) keep(u *upload) error {
	const op = "begin upload"
	raw, err := json.Marshal(u)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return file.Replace(s.uploadPath(u.id), raw, 0o600)
}

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
	if err := s.checkSize(op, r); err != nil {
		return none, err
	}
	u := &upload{ISOUploadRequest: r, By: by, BegunAt: s.cfg.Clock().UTC(), id: idOf(r.File, r.Digest), used: s.cfg.Clock()}
	fresh, err := s.enter(op, u)
	if err != nil {
		return none, err
	}
	err = s.keep(u)
	if err != nil && fresh {
		err = errors.Join(err, s.forget(u.id))
	}
	if err != nil {
		return none, err
	}
	s.cfg.Crash.At("hub.iso.begun")
	out, err := s.look(ctx, u)
	if errors.Is(err, blob.ErrInsufficient) && fresh { // what was begun before stays
		err = errors.Join(err, s.forget(u.id))
	}
	return out, err
}

// checkSize compares sizes of the same digest: one of them must be wrong.
func (s *Shelf) checkSize(op string, r protoapi.ISOUploadRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		if u.Digest == r.Digest && u.Size != r.Size {
			return protocol.Errorf(protocol.CodeConflict, op, "%s has %d bytes, and another upload says %d", r.Digest, r.Size, u.Size).
				WithHint("one of the two is wrong: rackctl iso list shows the other; rackctl iso remove --upload ends it")
		}
	}
	return nil
}

// enter makes the upload one of those that have not ended, if there is room. It is fresh
// if it was none of them.
func (s *Shelf) enter(op string, u *upload) (fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh = s.uploads[u.id] == nil
	if fresh && len(s.uploads) >= maxUploads {
		return false, protocol.Errorf(protocol.CodeUnavailable, op, "%d uploads have not ended", maxUploads).
			WithHint("finish them, or remove some: rackctl iso list shows them; each goes a day after nothing came to it")
	}
	s.uploads[u.id] = u
	return fresh, nil
}

// forget removes an upload. What came of its content goes with the next collection.
func (s *Shelf) forget(id string) error {
	s.mu.Lock()
	delete(s.uploads, id)
	s.mu.Unlock()
	if err := os.Remove(s.uploadPath(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// of is the upload of an id; not_found if there is none.
func (s *Shelf) of(op, id string) (*upload, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uploads[id]
	if u == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is no upload %.64q", id).
			WithHint("it has ended, or nothing came to it for %s; begin it again", protoapi.ISOUploadLife)
	}
	return u, nil
}

// Upload is an upload as it is. The codes are not_found, unavailable, timeout and internal.
func (s *Shelf) Upload(ctx context.Context, id string) (protoapi.ISOUpload, error) {
	u, err := s.of("get upload", id)
	if err != nil {
		return protoapi.ISOUpload{}, err
	}
	return s.look(ctx, u)
}

// look reads how far an upload is.
func (s *Shelf) look(ctx context.Context, u *upload) (protoapi.ISOUpload, error) {
	out := s.said(u)
	c, err := s.take("get upload", u.Digest)
	if err != nil {
		return out, err
	}
	defer s.give(c)
	part, err := s.open(ctx, c, u.Size)
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

func (s *Shelf) said(u *upload) protoapi.ISOUpload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return protoapi.ISOUpload{ID: u.id, File: u.File, Digest: u.Digest, Size: u.Size, ExpiresAt: u.used.Add(protoapi.ISOUploadLife).UTC()}
}

// Append takes the next piece, which begins at offset; what came of it before an error
// stays. It is on disk when Append returns. The codes are invalid, not_found, conflict (the
// offset is another), unavailable, timeout and internal.
func (s *Shelf) Append(ctx context.Context, id string, offset int64, r io.Reader) (protoapi.ISOUpload, error) {
	const op = "upload file"
	u, err := s.of(op, id)
	if err != nil {
		return protoapi.ISOUpload{}, err
	}
	out := s.said(u)
	c, err := s.take(op, u.Digest)
	if err != nil {
		return out, err
	}
	defer s.give(c)
	part, err := s.open(ctx, c, u.Size)
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
	s.touch(u)
	out.ExpiresAt = s.said(u).ExpiresAt
	return out, err
}

// touch notes that something came.
func (s *Shelf) touch(u *upload) {
	now := s.cfg.Clock()
	s.mu.Lock()
	u.used = now
	s.mu.Unlock()
	if err := os.Chtimes(s.uploadPath(u.id), now, now); err != nil {
		s.log.Warn("time of an upload not kept", "id", u.id, "err", err)
	}
}

// Abort ends an upload without a file. What came of its content goes unless another upload
// has the same. The codes are not_found, unavailable and internal.
func (s *Shelf) Abort(id string) error {
	const op = "remove upload"
	u, err := s.of(op, id)
	if err != nil {
		return err
	}
	c, err := s.take(op, u.Digest)
	if err != nil {
		return err
	}
	defer s.give(c)
	return s.abort(op, u, c)
}

func (s *Shelf) abort(op string, u *upload, c *content) error {
	if err := s.forget(u.id); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if s.uploading(u.Digest) {
		return nil
	}
	s.shut(c)
	return s.blobs.DropPart(u.Digest)
}

// uploading says whether an upload has the digest.
func (s *Shelf) uploading(digest string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		if u.Digest == digest {
			return true
		}
	}
	return false
}

// expire ends the uploads to which nothing came for long.
func (s *Shelf) expire(_ context.Context) {
	for _, u := range s.all() {
		if s.cfg.Clock().Before(s.said(u).ExpiresAt) {
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

// all are the uploads that have not ended, in order of name.
func (s *Shelf) all() []*upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*upload
	for _, u := range s.uploads {
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b *upload) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.id, b.id)) })
	return out
}
