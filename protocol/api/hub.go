package api

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol"
)

const (
	// maxAnswer bounds an answer in bytes: a list of many thousand servers.
	maxAnswer = 256 << 20
	// callTimeout bounds a call whose context has no deadline.
	callTimeout = 30 * time.Second
	// getTries bounds how often a GET is sent while the hub is unavailable.
	getTries = 4
	// maxAfter is how long a call waits at most because the hub says so.
	maxAfter = 5 * time.Second
	// firstPause is the wait before the second try; it doubles.
	firstPause = 200 * time.Millisecond
)

// hub is the other end of all calls of a client, and how it is asked.
type hub struct {
	base  string
	token string
	http  *http.Client
}

// call sends one request with in as JSON body (nil: none) and decodes the
// answer into out (nil: ignored).
func (h *hub) call(ctx context.Context, method, path string, in, out any) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return protocol.Errorf(protocol.CodeInternal, "encode request", "%w", err)
		}
	}
	if len(body) > MaxBody {
		return protocol.Errorf(protocol.CodeInvalid, "send request", "it has %d bytes, more than the %d that the hub takes at once", len(body), MaxBody).
			WithHint("send it in parts; of resources, racks, segments and BMCs before servers, and servers before claims")
	}
	pause := firstPause
	for try := 1; ; try++ {
		err := h.once(ctx, method, path, body, out)
		after, again := repeatable(method, err)
		if !again || try == getTries {
			return err
		}
		select {
		case <-time.After(max(pause, after)):
		case <-ctx.Done():
			return err
		}
		pause *= 2
	}
}

// repeatable says whether a call may be sent again, and after how long at least.
func repeatable(method string, err error) (after time.Duration, ok bool) {
	if p, is := errors.AsType[*Problem](err); is && p.Status == http.StatusTooManyRequests {
		return p.After, p.After <= maxAfter // nothing was done
	}
	return 0, method == http.MethodGet && protocol.CodeOf(err) == protocol.CodeUnavailable
}

type onceKey struct{}

// WithIdempotencyKey names the intent of the calls that are made with the context: the
// same call with the same key, by the same caller, is acted on once and answered alike.
// It is needed only for what is not safe to repeat anyway.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, onceKey{}, key)
}

type matchKey struct{}

// WithRevision makes deletions with the context conditional: the resource must have the
// metadata.revision that it had when it was read. Another one is a conflict.
func WithRevision(ctx context.Context, revision uint64) context.Context {
	return context.WithValue(ctx, matchKey{}, revision)
}

func (h *hub) once(ctx context.Context, method, path string, body []byte, out any) error {
	op := strings.ToLower(method) + " " + path
	req, err := http.NewRequestWithContext(ctx, method, h.base+path, bytes.NewReader(body))
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	if key, ok := ctx.Value(onceKey{}).(string); ok && method != http.MethodGet {
		req.Header.Set(HeaderIdempotencyKey, key)
	}
	if revision, ok := ctx.Value(matchKey{}).(uint64); ok && method == http.MethodDelete {
		req.Header.Set("If-Match", strconv.Quote(strconv.FormatUint(revision, 10)))
	}
	return h.answer(ctx, op, req, out)
}

// streamed is an answer that is read while it comes. What was read before is forgotten.
type streamed interface{ read(r io.Reader) error }

// answer sends a request and decodes the answer into out (nil: ignored).
func (h *hub) answer(ctx context.Context, op string, req *http.Request, out any) error {
	resp, err := h.http.Do(req)
	if err != nil {
		return h.transportError(ctx, op, err)
	}
	defer resp.Body.Close()
	body := &body{from: resp.Body}
	if s, ok := out.(streamed); ok && resp.StatusCode < 300 {
		err = s.read(body)
	} else {
		var raw []byte
		if raw, err = io.ReadAll(body); err == nil && resp.StatusCode >= 300 {
			return problemIn(op, resp, raw)
		}
		if err == nil && out != nil {
			err = json.Unmarshal(raw, out)
		}
	}
	switch {
	case body.err != nil:
		return h.transportError(ctx, op, body.err)
	case body.n > maxAnswer:
		return protocol.Errorf(protocol.CodeInternal, op, "the hub's answer is longer than %d bytes", maxAnswer)
	case err != nil:
		return protocol.Errorf(protocol.CodeInternal, op, "the hub's answer cannot be read: %w", err).
			WithHint("hub and rackctl may be of different versions; compare them with rackctl version")
	}
	return nil
}

// body is that of an answer, up to a bound, and tells what the network did from what is written in it.
type body struct {
	from io.Reader
	n    int
	err  error // of the network
}

var errLong = errors.New("too long")

func (b *body) Read(into []byte) (n int, err error) {
	if b.n > maxAnswer {
		return 0, errLong
	}
	n, err = b.from.Read(into)
	b.n += n
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

func problemIn(op string, resp *http.Response, raw []byte) error {
	if mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mt == ProblemType {
		var p Problem
		if json.Unmarshal(raw, &p) == nil {
			p.Status = resp.StatusCode
			if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
				p.After = time.Duration(n) * time.Second
			}
			return p.Err()
		}
	}
	code := protocol.CodeFromHTTP(resp.StatusCode)
	if resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusTooManyRequests {
		code = protocol.CodeUnavailable
	}
	return protocol.Errorf(code, op, "answered %s without a problem", resp.Status).
		WithHint("check that the URL is that of a hub")
}

func (h *hub) transportError(ctx context.Context, op string, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // the URL is in the hint
	}
	if pe, ok := errors.AsType[*protocol.Error](err); ok {
		return pe // of a certificate that is not the token's
	}
	var unknownCA x509.UnknownAuthorityError
	var wrongHost x509.HostnameError
	switch {
	case errors.As(err, &unknownCA), errors.As(err, &wrongHost):
		return protocol.Errorf(protocol.CodeDenied, op, "the hub's certificate is not trusted: %w", err).
			WithHint("give the hub's CA and the name that is in its certificate: rackctl login URL, or rackctl config set-context NAME --ca ca.pem --url ...")
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.CodeTimeout, op, "no answer in time: %w", err).
			WithHint("the outcome is unknown; check with a get before trying again")
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "hub not reached: %w", err).
		WithHint("check that the hub runs at %s and that this host can reach it", h.base)
}
