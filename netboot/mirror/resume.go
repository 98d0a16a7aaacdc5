package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"rackboot/protocol"
)

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resume asks for the rest of the file and copies it.
func (f *flight) resume() error {
	body, err := f.from(f.ctx, f.arrival.now().bytes)
	if err != nil {
		return err
	}
	defer body.Close()
	return f.copy(body)
}

// from is a body of the same file that begins at a position. Errors: errChanged;
// errNoRange; trouble with the other side.
func (f *flight) from(ctx context.Context, at int64) (io.ReadCloser, error) {
	resp, err := f.m.ask(ctx, f.asked.site, http.MethodGet, f.asked.url, http.Header{
		"Range": {fmt.Sprintf("bytes=%d-", at)}, "If-Range": {f.strong},
	})
	if err != nil {
		if errors.Is(err, errFolder) {
			return nil, f.changed()
		}
		return nil, err
	}
	switch part := partOf(resp, f.entry, f.strong, at); part {
	case partRest:
		return resp.Body, nil
	case partWhole:
		f.noRange.Store(true)
		err = errNoRange
	case partChanged:
		err = f.changed()
	case partTrouble:
		err = protocol.Errorf(protocol.CodeUnavailable, "fetch", "%s answers %d", show(f.asked.url), resp.StatusCode)
	}
	return nil, errors.Join(err, resp.Body.Close())
}

func (f *flight) changed() error {
	return protocol.Errorf(protocol.CodeConflict, "fetch", "%s: %w", show(f.asked.url), errChanged).
		WithHint("open it again; a repository that changes often is better copied first")
}

// part is what the answer to a range is.
type part string

const (
	partRest    part = "rest"    // from where it was asked for
	partWhole   part = "whole"   // the same file from its beginning
	partChanged part = "changed" // of another file
	partTrouble part = "trouble" // none
)

// partOf says what an answer to a range from at is, of a file whose bytes strong
// identifies. What cannot be told to be of the same file is of another.
func partOf(resp *http.Response, e entry, strong string, at int64) part {
	same := validator(resp.Header) == strong
	switch resp.StatusCode {
	case http.StatusPartialContent:
		// Its ETag may be left out only where the one of If-Range stands for it; RFC 9110
		// section 15.3.7 wants it in, and so do we. A Last-Modified that identified the
		// bytes may be left out.
		first, last, size, ok := contentRange(resp.Header.Get("Content-Range"))
		if resp.Header.Get("ETag") == "" && strongTag(strong) == "" {
			m := resp.Header.Get("Last-Modified")
			same = m == "" || m == strong
		}
		if ok && first == at && last == e.Size-1 && size == e.Size && same && asStored(resp.Header.Values("Content-Encoding"), e.URL) {
			return partRest
		}
		return partChanged
	case http.StatusOK:
		if same && resp.ContentLength == e.Size {
			return partWhole
		}
		return partChanged
	case http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable, http.StatusPreconditionFailed:
		return partChanged
	}
	return partTrouble
}
