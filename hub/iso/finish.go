package iso

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rackboot/hub/store"
	"rackboot/netboot/fsview"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

// taken judges the name of an upload. done says that there is nothing to do: the name has
// this content, and nothing is asked for of its signature.
func (s *Shelf) taken(op string, r protoapi.ISOUploadRequest) (done bool, err error) {
	have, err := s.cfg.Store.ISOs.Get(r.File)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch nameRule(have.Uploaded == r.Digest, s.there(have.Digest), len(r.Signature) > 0, r.Replace) {
	case nameDone:
		return true, nil
	case nameGo:
		return false, nil
	default:
		return false, protocol.Errorf(protocol.CodeConflict, op, "%s is there already, with %s, uploaded %s by %s", r.File, have.Uploaded, have.UploadedAt.Format("2006-01-02"), have.UploadedBy).
			WithHint("--replace puts %s in its place; servers boot from it as soon as their agents have it", r.Digest)
	}
}

// nameVerdict is what becomes of an upload under a name that is in the book.
type nameVerdict string

const (
	nameDone  nameVerdict = "done"
	nameGo    nameVerdict = "go on"
	nameTaken nameVerdict = "taken"
)

// nameRule judges an upload under a name that is in the book. The first row that fits
// decides.
//
//	same digest | content there | signature | replace | outcome
//	no          | *             | *         | yes     | go on
//	no          | *             | *         | no      | taken
//	yes         | yes           | no        | *       | done
//	yes         | *             | *         | *       | go on
func nameRule(same, there, signature, replace bool) nameVerdict {
	switch {
	case !same && replace:
		return nameGo
	case !same:
		return nameTaken
	case there && !signature:
		return nameDone
	}
	return nameGo
}

// Finish checks an upload whose content is there and gives it its name. Repeating it is
// safe. What does not fit is removed, and begins anew. The codes are invalid (digest, signature, not complete, no
// archive that agents can read), conflict (the name has another content), denied (a key
// that is not known), not_found, unsupported, unavailable, timeout and internal.
func (s *Shelf) Finish(ctx context.Context, id string, r protoapi.ISOFinishRequest) (resource.ISOFile, error) {
	const op = "finish upload"
	u, err := s.uploads.of(op, id)
	if err != nil {
		if have, _ := s.cfg.Store.ISOs.Get(r.File); have.File != "" && idOf(have.File, have.Uploaded) == id {
			return have.ISOFile, nil // the answer was lost
		}
		return resource.ISOFile{}, err
	}
	if r.File != u.File {
		return resource.ISOFile{}, protocol.Errorf(protocol.CodeInvalid, op, "the upload is of %s, not of %.300q", u.File, r.File)
	}
	c, err := s.contents.take(op, u.Digest)
	if err != nil {
		return resource.ISOFile{}, err
	}
	defer s.contents.give(c)
	f, err := s.finish(ctx, op, u, c)
	if err == nil {
		s.metrics.ended.WithLabelValues(endDone).Inc()
		return f, nil
	}
	if refusesContent(err) {
		s.metrics.ended.WithLabelValues(endRefused).Inc()
		s.log.Warn("an upload was refused", "file", u.File, "digest", u.Digest, "by", u.By, "err", err)
		err = errors.Join(err, s.abort(op, u, c))
	}
	return f, err
}

// refused is in the chain of errors after which an upload is of no use any more.
var errRefused = errors.New("upload refused")

func refusesContent(err error) bool { return errors.Is(err, errRefused) }

// refuse marks an error as one of the content, or of what is said about it.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return &refusal{err}
}

type refusal struct{ err error }

func (r *refusal) Error() string   { return r.err.Error() }
func (r *refusal) Unwrap() []error { return []error{r.err, errRefused} }

func (s *Shelf) finish(ctx context.Context, op string, u *upload, c *content) (f resource.ISOFile, err error) {
	part, err := s.contents.open(ctx, c, u.Size)
	if err != nil {
		return f, err
	}
	if part != nil {
		if err := whole(op, part, u); err != nil {
			return f, err
		}
		s.cfg.Crash.At("hub.iso.verified")
		c.part = nil
	}
	if err := s.checkWanted(op, u.File, u.Digest); err != nil {
		return f, refuse(err)
	}
	digest, size, ok := s.contents.kept(u.Digest)
	if !ok {
		return f, protocol.Errorf(protocol.CodeUnavailable, op, "the content of %s is not there any more", u.File).WithHint("begin the upload again")
	}
	f = resource.ISOFile{
		File: u.File, Digest: digest, Size: size, Uploaded: u.Digest, UploadedSize: u.Size,
		UploadedAt: s.cfg.Clock().UTC(), UploadedBy: u.By, Source: u.Source,
	}
	if digest == u.Digest { // else another name has it, packed again; its signature is below
		if f.Digest, f.Size, err = s.readable(ctx, op, u); err != nil {
			return f, err
		}
	}
	if err := s.checkNeeded(ctx, op, u.File, f.Digest); err != nil {
		return f, err
	}
	if f.Signature, err = s.verify(ctx, op, u); err != nil {
		return f, err
	}
	if err := s.enterBook(ctx, op, u, &f); err != nil {
		return f, err
	}
	s.cfg.Crash.At("hub.iso.booked")
	if f.Digest != f.Uploaded && s.blobs.Has(f.Uploaded) && !s.contents.named(f.Uploaded) {
		if err := s.blobs.Remove(f.Uploaded); err != nil {
			s.log.Warn("what was packed again was not removed", "digest", f.Uploaded, "err", err)
		}
	}
	return f, s.uploads.forget(u.id)
}

// whole ends the part, which compares the content with its digest.
func whole(op string, part *blob.Part, u *upload) error {
	if at := part.Offset(); at < u.Size {
		return protocol.Errorf(protocol.CodeConflict, op, "%s has %d of %d bytes", u.File, at, u.Size).WithHint("go on at %d", at)
	}
	sum := part.Sum()
	err := part.Finish()
	if sum != u.Digest {
		return refuse(protocol.Errorf(protocol.CodeInvalid, op, "%s was to have %s, and what came has %s", u.File, u.Digest, sum).
			WithHint("the file was changed while it was read, or is another one; nothing of it is kept"))
	}
	return err
}

// headSize is how much of a file says what it is: the descriptor of an ISO image is at
// 32 KiB (ECMA-119, section 6.2.1).
const headSize = 64 << 10

// readable is what agents get of a content that is whole: itself, or what a compressed tar
// is when it is packed again.
func (s *Shelf) readable(ctx context.Context, op string, u *upload) (digest string, size int64, err error) {
	file, size, err := s.blobs.Open(u.Digest)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	head := make([]byte, headSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", 0, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if !fsview.Compressed(head[:n]) {
		return u.Digest, size, readableAs(op, file, size, u.File)
	}
	digest, size, err = s.blobs.Make(ctx, protoapi.MaxISOSize, func(w io.Writer) error { return fsview.Repack(ctx, file, w, fsview.Limits{}) })
	switch {
	case errors.Is(err, blob.ErrInsufficient), ctx.Err() != nil:
		return "", 0, err
	case err != nil:
		return "", 0, refuse(protocol.Errorf(protocol.CodeInvalid, op, "%s is compressed, and cannot be packed again: %w", u.File, err).
			WithHint("what is compressed must be a tar archive"))
	}
	s.cfg.Crash.At("hub.iso.repacked")
	packed, _, err := s.blobs.Open(digest)
	if err != nil {
		return "", 0, err
	}
	defer packed.Close()
	return digest, size, readableAs(op, packed, size, u.File)
}

// readableAs says why an agent could not read a file in place.
func readableAs(op string, file io.ReaderAt, size int64, name string) error {
	files, err := fsview.Archive(file, size, name)
	if err != nil {
		return refuse(protocol.Errorf(protocol.CodeInvalid, op, "agents could not read %s: %w", name, err).
			WithHint("upload an ISO 9660 image, a zip or a tar archive"))
	}
	if c, ok := files.(io.Closer); ok {
		_ = c.Close() // nothing was read of it
	}
	return nil
}

// bookTries bounds how often a content is given its name while others write about the same.
const bookTries = 4

// enterBook gives a content its name, in one step. Where hubs share the store, all of it is where each of them finds it
// before, and the name stands only if it still is.
func (s *Shelf) enterBook(ctx context.Context, op string, u *upload, f *resource.ISOFile) error {
	if s.cfg.Depot == nil {
		return s.enter(ctx, op, u, f, nil)
	}
	for try := 1; ; try++ {
		kept, err := s.cfg.Depot.Keep(ctx, f.Digest)
		if err != nil {
			return err
		}
		s.cfg.Crash.At("hub.iso.kept")
		if err := s.enter(ctx, op, u, f, &kept); protocol.CodeOf(err) != protocol.CodeConflict || refusesContent(err) || try == bookTries {
			return err
		}
	}
}

// enter writes the name; kept is the record of the content, or nil.
func (s *Shelf) enter(ctx context.Context, op string, u *upload, f *resource.ISOFile, kept *store.Content) error {
	have, err := s.cfg.Store.ISOs.Get(u.File)
	var before string
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound:
		have = store.ISO{}
	case err != nil:
		return err
	default:
		if _, err := s.taken(op, u.ISOUploadRequest); err != nil {
			return refuse(err) // somebody else was first
		}
		before = have.Digest
		if f.Signature == nil && have.Uploaded == f.Uploaded {
			f.Signature = have.Signature // it is still of these bytes
		}
	}
	row := store.ISO{ISOFile: *f, Revision: have.Revision}
	if kept != nil {
		err = s.cfg.Store.ISOs.PutKept(ctx, &row, kept)
	} else {
		err = s.cfg.Store.ISOs.Put(ctx, &row)
	}
	if err != nil {
		return err
	}
	s.log.Info("file uploaded", "file", f.File, "digest", f.Digest, "size", f.Size, "uploaded", f.Uploaded, "by", u.By, "before", before)
	message := fmt.Sprintf("%s was uploaded by %s: %s, %d bytes", f.File, u.By, f.Uploaded, f.UploadedSize)
	if before != "" && before != f.Digest {
		message += "; it replaces " + before
	}
	s.cfg.Event(ctx, message)
	return nil
}
