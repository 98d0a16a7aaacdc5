package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol"
)

// maxIdle is how often a download is gone on with, in one call, that does not get further.
const maxIdle = 3

// errAnew says that what was there is of another version, and was thrown away.
var errAnew = errors.New("it is begun anew")

// download brings a URL's content under its digest. A connection that breaks is gone on
// with at once, as long as that gets further than any before.
func (f *Fetcher) download(ctx context.Context, from, digest string) error {
	best, idle := int64(0), 0
	for {
		to, err := f.piece(ctx, from, digest)
		if idle++; to > best {
			best, idle = to, 0
		}
		temporary := protocol.CodeOf(err) == protocol.CodeUnavailable || protocol.CodeOf(err) == protocol.CodeTimeout
		if err == nil || !temporary || idle >= maxIdle || to == 0 && !errors.Is(err, errAnew) || ctx.Err() != nil {
			return err
		}
	}
}

// piece asks for what is not there yet, and takes what comes of it, up to byte to; 0 where
// nothing came.
func (f *Fetcher) piece(ctx context.Context, from, digest string) (to int64, err error) {
	const op = "fetch file"
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer watch.Stop()
	was, at := f.version(from), f.cfg.Shelf.Partial(digest)
	resp, err := f.ask(ctx, op, from, headers(was, at, digest))
	if err != nil {
		return 0, stalled(ctx, op, from, err)
	}
	defer resp.Body.Close() // what follows a refusal is not read
	switch resp.StatusCode {
	case http.StatusNotModified:
		if was.refused != nil {
			return 0, was.refused
		}
		return 0, refusedBy(op, from, resp)
	case http.StatusRequestedRangeNotSatisfiable:
		if at == 0 {
			return 0, refusedBy(op, from, resp)
		}
		return 0, f.anew(ctx, op, from, digest, at)
	}
	begins, total, err := rangeOf(op, from, resp)
	if err != nil {
		return 0, err
	}
	f.remember(from, version{validator: validator(resp)})
	part, err := f.cfg.Shelf.Receive(ctx, digest, total)
	if err != nil || part == nil {
		return 0, err
	}
	defer part.Close()
	switch have := part.Offset(); {
	case begins == 0 && have > 0: // another version, or a server that knows no ranges
		return 0, errors.Join(protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", bare(from), errAnew), part.Drop())
	case begins != have: // what was there is damaged, and less is good
		return 0, protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w at byte %d", bare(from), errAnew, have)
	}
	err = part.Append(ctx, &alive{r: resp.Body, watch: watch, count: func(n int) { f.metrics.received.Add(float64(n)) }})
	to = part.Offset()
	f.cfg.Crash.At("hub.catalogue.piece")
	switch {
	case err != nil:
		return to, stalled(ctx, op, from, err)
	case to < total:
		return to, protocol.Errorf(protocol.CodeUnavailable, op, "%s ended after %d of %d bytes", bare(from), to, total).WithHint("it goes on by itself")
	}
	if err := part.Finish(); err != nil {
		if protocol.CodeOf(err) == protocol.CodeInvalid {
			err = protocol.Errorf(protocol.CodeInvalid, op, "%s is not what the entry says: %w", bare(from), err).
				WithHint("another file is at this URL now, or it was changed on its way; nothing of it is kept. Take an entry with the right sum")
			f.remember(from, version{refused: err, etag: resp.Header.Get("ETag"), digest: digest})
		}
		return 0, err // what came is gone
	}
	return to, nil
}

// errStalled says that nothing came for a while.
var errStalled = errors.New("nothing came for a minute")

func stalled(ctx context.Context, op, from string, err error) error {
	if errors.Is(context.Cause(ctx), errStalled) {
		return protocol.Errorf(protocol.CodeTimeout, op, "%s: %w", bare(from), errStalled).WithHint("it goes on by itself; check the network to the server")
	}
	return err
}

// headers ask for the rest of the version that a part is of (RFC 9110, sections 13.1.5 and
// 14.2), and for nothing of a version that is known not to be the file (13.1.2). After a
// restart of the hub the version is not known; a part of another one shows in the digest.
func headers(was version, at int64, digest string) map[string]string {
	out := map[string]string{}
	if was.refused != nil && was.etag != "" && was.digest == digest {
		out["If-None-Match"] = was.etag
	}
	if at > 0 {
		out["Range"] = fmt.Sprintf("bytes=%d-", at)
		if was.validator != "" {
			out["If-Range"] = was.validator
		}
	}
	return out
}

// anew throws away what is there of a file.
func (f *Fetcher) anew(ctx context.Context, op, from, digest string, at int64) error {
	part, err := f.cfg.Shelf.Receive(ctx, digest, at)
	if err != nil || part == nil {
		return err
	}
	defer part.Close()
	return errors.Join(protocol.Errorf(protocol.CodeUnavailable, op, "%s has less than the %d bytes that were there: %w", bare(from), at, errAnew), part.Drop())
}

// rangeOf is where an answer begins and how long the whole is, in bytes.
func rangeOf(op, from string, resp *http.Response) (begins, total int64, err error) {
	switch resp.StatusCode {
	case http.StatusOK:
		if resp.ContentLength < 0 {
			return 0, 0, protocol.Errorf(protocol.CodeUnsupported, op, "%s does not say how long it is", bare(from)).WithHint("take the file from a server that does")
		}
		return 0, resp.ContentLength, nil
	case http.StatusPartialContent:
		text, is := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes ")
		span, size, cut := strings.Cut(text, "/")
		first, _, dash := strings.Cut(span, "-")
		begins, err1 := strconv.ParseInt(first, 10, 64)
		total, err2 := strconv.ParseInt(size, 10, 64)
		if !is || !cut || !dash || err1 != nil || err2 != nil || begins < 0 || total < begins {
			return 0, 0, protocol.Errorf(protocol.CodeUnsupported, op, "%s answered the range %.100q", bare(from), resp.Header.Get("Content-Range")).WithHint("take the file from another server")
		}
		return begins, total, nil
	}
	return 0, 0, refusedBy(op, from, resp)
}

// validator is what names the version of an answer; a weak one is not for ranges (RFC 9110,
// section 13.1.5).
func validator(resp *http.Response) string {
	if tag := resp.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return resp.Header.Get("Last-Modified")
}

func (f *Fetcher) version(from string) version {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[from]
}

func (f *Fetcher) remember(from string, v version) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) >= maxSeen {
		clear(f.seen)
	}
	f.seen[from] = v
}

// alive notes that something came.
type alive struct {
	r     io.Reader
	watch *time.Timer
	count func(int)
}

func (a *alive) Read(b []byte) (int, error) {
	n, err := a.r.Read(b)
	if n > 0 {
		a.watch.Reset(stall)
		a.count(n)
	}
	return n, err
}
