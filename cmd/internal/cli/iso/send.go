package iso

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

const (
	// sendPiece is how much is sent at once, in bytes: what is sent again at most after a
	// break that nobody has noticed.
	sendPiece = 16 << 20
	// sendAnew is how often an upload is begun that the hub which answers does not know.
	sendAnew = 4
	// sendTries is how often it is tried without getting any further; the pause between two
	// begins at sendPauseMin and doubles up to sendPauseMax.
	sendTries    = 12
	sendPauseMin = 500 * time.Millisecond
	sendPauseMax = 30 * time.Second
)

// send uploads a file whose digest is known, and goes on with what is there of it.
func send(ctx context.Context, pr *printer.Printer, c *api.Client, f *os.File, req api.ISOUploadRequest) (api.ISOItem, error) {
	s := &sender{pr: pr, c: c, file: f, req: req}
	for try := 1; ; try++ {
		err := s.whole(ctx)
		if err == nil {
			return c.ISOs.Get(ctx, req.File)
		}
		if !s.lost(err) {
			return api.ISOItem{}, err
		}
		if try == sendAnew {
			return api.ISOItem{}, protocol.Errorf(protocol.CodeOf(err), "upload file", "%s: %w", req.File, err).
				WithHint("several hubs answer by turns: name a context of one of them with --context, or have what is before them keep to one while it lives; then give the same command again")
		}
		pr.Progress("the hub that answers now has nothing of %s, as another one has after a takeover: it begins again", req.File)
	}
}

// whole is the way of a file through one hub.
func (s *sender) whole(ctx context.Context) error {
	s.up = api.ISOUpload{}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if s.up.Done {
		s.pr.Progress("%s is there already, with this content", s.req.File)
		return nil
	}
	if err := s.rest(ctx); err != nil {
		return err
	}
	s.pr.Progress("the hub checks %s", s.req.File)
	return s.again(ctx, func() error {
		_, err := s.c.Uploads.Finish(ctx, s.up.ID, api.ISOFinishRequest{File: s.req.File})
		return err
	})
}

// lost reports whether the upload was begun, and the hub that answers does not know it.
func (s *sender) lost(err error) bool {
	return s.up.ID != "" && protocol.CodeOf(err) == protocol.CodeNotFound
}

// sender is one upload.
type sender struct {
	pr   *printer.Printer
	c    *api.Client
	file *os.File
	req  api.ISOUploadRequest
	up   api.ISOUpload
}

// begin begins the upload, or finds it. What is there and does not have the beginning of
// this file is thrown away.
func (s *sender) begin(ctx context.Context) error {
	for range 2 {
		err := s.again(ctx, func() (err error) {
			s.up, err = s.c.Uploads.Begin(ctx, s.req)
			return err
		})
		if err != nil || s.up.Done || s.up.Offset == 0 || s.up.Offset == s.up.Size {
			return err
		}
		same, err := s.same()
		if err != nil || same {
			if same {
				s.pr.Progress("%s of %s are there already", printer.Mebibytes(s.up.Offset), printer.Mebibytes(s.up.Size))
			}
			return err
		}
		s.pr.Progress("what is there of %s is of another file, and is sent again", s.req.File)
		if err := s.c.Uploads.Abort(ctx, s.up.ID); err != nil {
			return err
		}
	}
	return protocol.Errorf(protocol.CodeConflict, "upload file", "somebody else uploads other bytes as %s", s.req.Digest).
		WithHint("rackctl iso list shows the uploads; the hub refuses the wrong one when it is complete")
}

// same says whether the file begins with what is there.
func (s *sender) same() (bool, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(s.file, 0, s.up.Offset)); err != nil {
		return false, protocol.Errorf(protocol.CodeUnavailable, "read file", "%w", err)
	}
	return s.up.Prefix == "sha256:"+hex.EncodeToString(h.Sum(nil)), nil
}

// rest sends what is not there.
func (s *sender) rest(ctx context.Context) error {
	b := s.pr.NewBar("uploading "+s.req.File, s.up.Offset, s.up.Size)
	defer b.End()
	for s.up.Offset < s.up.Size {
		at := s.up.Offset
		n := min(sendPiece, s.up.Size-at)
		err := s.again(ctx, func() error {
			r := b.Reader(io.NewSectionReader(s.file, at, n), at)
			up, err := s.c.Uploads.Send(ctx, s.up.ID, at, r, n)
			if err == nil {
				s.up = up
				return nil
			}
			// How much of it came, the hub says; a piece that came by half is gone on with.
			if now, lookErr := s.c.Uploads.Get(ctx, s.up.ID); lookErr == nil && now.Offset != at {
				s.up = now
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		b.Set(s.up.Offset)
	}
	return nil
}

// passes says whether an error may pass by itself: a hub without room stays so.
func passes(err error) bool {
	if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusInsufficientStorage {
		return false
	}
	code := protocol.CodeOf(err)
	return code == protocol.CodeUnavailable || code == protocol.CodeTimeout
}

// again does something until it succeeds, or fails for good.
func (s *sender) again(ctx context.Context, do func() error) error {
	pause := sendPauseMin
	for try := 1; ; try++ {
		err := do()
		if !passes(err) {
			return err
		}
		if try == sendTries || ctx.Err() != nil {
			return protocol.Errorf(protocol.CodeOf(err), "upload file", "%s: %w", s.req.File, err).
				WithHint("give the same command again: it goes on where it was, for a day")
		}
		s.pr.Progress("%s: %s; it is tried again", s.req.File, err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, sendPauseMax)
	}
}
