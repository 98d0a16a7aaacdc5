package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ISOs are the uploaded files.
type ISOs struct{ hub *hub }

// List lists the uploaded files.
func (i ISOs) List(ctx context.Context) (out ISOList, err error) {
	return out, i.hub.call(ctx, http.MethodGet, PathISOs, nil, &out)
}

// Get reads what is known of an uploaded file.
func (i ISOs) Get(ctx context.Context, file string) (out ISOItem, err error) {
	return out, i.hub.call(ctx, http.MethodGet, PathISO(file), nil, &out)
}

// Remove removes an uploaded file; force also one that environments name.
func (i ISOs) Remove(ctx context.Context, file string, force bool) (out ISOItem, err error) {
	path := PathISO(file)
	if force {
		path += "?" + QueryForce + "=true"
	}
	return out, i.hub.call(ctx, http.MethodDelete, path, nil, &out)
}

// Uploads are the files that are being uploaded.
type Uploads struct{ hub *hub }

// Begin begins an upload, or goes on with it. Repeating it is safe.
func (u Uploads) Begin(ctx context.Context, r ISOUploadRequest) (out ISOUpload, err error) {
	ctx, cancel := context.WithTimeout(ctx, ISOPieceWait) // what is there may have to be read
	defer cancel()
	return out, u.hub.call(ctx, http.MethodPost, PathISOUploads, r, &out)
}

// Get reads how far an upload is.
func (u Uploads) Get(ctx context.Context, id string) (out ISOUpload, err error) {
	ctx, cancel := context.WithTimeout(ctx, ISOPieceWait)
	defer cancel()
	return out, u.hub.call(ctx, http.MethodGet, PathISOUpload(id), nil, &out)
}

// Abort ends an upload without a file.
func (u Uploads) Abort(ctx context.Context, id string) error {
	return u.hub.call(ctx, http.MethodDelete, PathISOUpload(id), nil, nil)
}

// Finish checks an upload, and gives it its name. It takes up to [ISOFinishWait], and
// repeating it is safe.
func (u Uploads) Finish(ctx context.Context, id string, r ISOFinishRequest) (out resource.ISOFile, err error) {
	ctx, cancel := context.WithTimeout(ctx, ISOFinishWait)
	defer cancel()
	return out, u.hub.call(ctx, http.MethodPost, PathISOFinish(id), r, &out)
}

// Send sends the next piece of an upload: size bytes of r, at most [MaxISOPiece], that
// begin at offset. After an error ask for the offset: some of it may be there.
func (u Uploads) Send(ctx context.Context, id string, offset int64, r io.Reader, size int64) (out ISOUpload, err error) {
	return out, u.hub.piece(ctx, PathISOPiece(id, offset), r, size, &out)
}

// piece puts size bytes of r.
func (h *hub) piece(ctx context.Context, path string, r io.Reader, size int64, out any) error {
	ctx, cancel := context.WithTimeout(ctx, ISOPieceWait)
	defer cancel()
	op := "put " + path
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, h.base+path, io.NopCloser(io.LimitReader(r, size)))
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", "application/octet-stream")
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	return h.answer(ctx, op, req, out)
}

// Read reads at most n bytes of an uploaded file from an offset on, with the
// certificate of the client. It may end early without an error. The context bounds the
// whole of it. The code of what is not for the agent is denied.
func (i ISOs) Read(ctx context.Context, digest string, offset, n int64) (io.ReadCloser, error) {
	op := "get " + PathISOContent
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, i.hub.base+PathISOContent+digest, bytes.NewReader(nil))
	if err != nil || !ValidDigest(digest) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "digest %.100q: %w", digest, errors.Join(err, errors.New("it is no digest")))
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+n-1))
	resp, err := i.hub.http.Do(req)
	if err != nil {
		return nil, i.hub.transportError(ctx, op, err)
	}
	if resp.StatusCode != http.StatusPartialContent {
		defer resp.Body.Close()
		raw, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody))
		if err != nil {
			return nil, i.hub.transportError(ctx, op, err)
		}
		if resp.StatusCode < http.StatusMultipleChoices {
			return nil, protocol.Errorf(protocol.CodeInternal, op, "answered %s to a range", resp.Status)
		}
		return nil, problemIn(op, resp, raw)
	}
	// RFC 9110, section 14.4: bytes first-last/length.
	first, _, _ := strings.Cut(strings.TrimPrefix(resp.Header.Get("Content-Range"), "bytes "), "-")
	if at, err := strconv.ParseInt(first, 10, 64); err != nil || at != offset {
		_ = resp.Body.Close() // nothing of it is used
		return nil, protocol.Errorf(protocol.CodeInternal, op, "answered the range %.100q to one from %d", resp.Header.Get("Content-Range"), offset)
	}
	return resp.Body, nil
}
