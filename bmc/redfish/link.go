package redfish

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

const (
	maxAnswer    = 4 << 20 // largest system resource seen: 60 KiB
	maxRedirects = 3
	// idleTimeout is shorter than any BMC's own, which close in mid-use.
	idleTimeout = 20 * time.Second
)

// errRedirect stops a redirect that would lose the method or the host.
var errRedirect = errors.New("the BMC redirects to another host or method")

// link does the exchanges with one BMC for one system.
type link struct {
	config  Config
	base    *url.URL
	host    *host
	account *account
	metrics *metrics
	logger  *slog.Logger
	closed  atomic.Bool
	hook    atomic.Pointer[string]          // secret part of the address that events go to
	other   atomic.Pointer[bmc.Credentials] // the account that is written
}

// request is one exchange.
type request struct {
	op      string
	method  string
	uri     string
	payload any
	headers map[string]string
	open    bool   // without the account's login
	token   string // with this token instead
	urgent  bool   // overtakes what waits
	slow    bool   // inventory: its own queue and timeout
}

func (d *Dialer) httpClient(config *tls.Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			// No Proxy: credentials of BMCs go to the BMC or nowhere.
			DialContext:         d.config.DialContext,
			TLSClientConfig:     config,
			TLSHandshakeTimeout: d.config.RequestTimeout,
			IdleConnTimeout:     idleTimeout,
			// One for power, one for inventory, one for events.
			MaxConnsPerHost: 3,
			// Compressed answers carry an ETag that does not match on PATCH.
			DisableCompression: true,
			// A BMC that speaks h2 only exists.
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: 1 << 16,
		},
		CheckRedirect: checkRedirect,
	}
}

// checkRedirect allows what iLO 5 before 1.40 needs, 308 for a missing
// trailing slash. 301 to 303 would turn a PATCH or POST into a GET whose
// success says nothing. Another host would get the session's token.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
		return errRedirect
	}
	return nil
}

// do sends one request and reads the whole answer. The answer's body is in
// memory. Every error is a *protocol.Error without secrets. A write is sent a
// second time only where the BMC refused the session and so did nothing.
func (l *link) do(ctx context.Context, r request) (*http.Response, error) {
	if err := checkURI(r.uri); err != nil {
		return nil, l.unusable(r.op, fmt.Sprintf("it names %.200q, which is not a path on it", r.uri))
	}
	lane := l.host.power
	if r.slow {
		lane = l.host.inventory
	}
	leave, err := lane.enter(ctx, r.op, r.urgent)
	if err != nil {
		return nil, err
	}
	defer leave()
	if l.closed.Load() {
		return nil, protocol.Errorf(protocol.CodeUnavailable, r.op, "the driver for BMC %s is closed", l.base).
			WithHint("open it again; nothing was sent to the BMC")
	}
	if pause := l.host.refusal(l.account.credentials, time.Now()); pause > 0 {
		return nil, l.deniedBefore(r.op, pause)
	}
	if err := l.host.breaker.pass(r.op, time.Now(), r.urgent); err != nil {
		return nil, err
	}
	start := time.Now()
	resp, err := l.authorized(ctx, r)
	took := time.Since(start)
	if l.closed.Load() { // closed meanwhile: leave no connection behind
		l.account.client.CloseIdleConnections()
	}
	l.metrics.done(r.op, took, err)
	l.logger.Debug("BMC request", "op", r.op, "method", r.method, "uri", r.uri, "took", took, "code", protocol.CodeOf(err))
	return resp, err
}

// authorized sends the request with the account's login, which it makes or, for
// one time, renews.
func (l *link) authorized(ctx context.Context, r request) (*http.Response, error) {
	refused := ""
	for {
		if err := l.login(ctx, refused); err != nil {
			return nil, l.settle(ctx, err)
		}
		resp, body, err := l.exchange(ctx, r)
		if err != nil {
			return nil, l.settle(ctx, err)
		}
		l.host.breaker.done(true, time.Now())
		used := resp.Request.Header.Get("X-Auth-Token")
		switch {
		case resp.StatusCode == http.StatusUnauthorized && used != "" && refused == "":
			refused = used // the session ended: once more with a new one
			continue
		case resp.StatusCode == http.StatusUnauthorized:
			return nil, l.denied(r.op, resp, body)
		case resp.StatusCode >= 300:
			return nil, l.statusError(r.op, resp, body)
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
}

// settle tells the breaker of an exchange that failed, if that was the BMC's
// doing: a caller that gave up says nothing about the BMC.
func (l *link) settle(ctx context.Context, err error) error {
	_, answered := errors.AsType[*answer](err)
	switch {
	case answered:
		l.host.breaker.done(true, time.Now())
	case ctx.Err() != nil, protocol.CodeOf(err) == protocol.CodeDenied:
		l.host.breaker.skip()
	default:
		l.host.breaker.done(false, time.Now())
	}
	return err
}

// exchange sends one request and reads its answer, whatever the status. A GET
// that is refused with 406 for wanting no compression (HPE Gen10+, registries)
// is sent again without that wish.
func (l *link) exchange(ctx context.Context, r request) (*http.Response, []byte, error) {
	timeout := l.config.RequestTimeout
	if r.slow {
		timeout = l.config.InventoryTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, body, err := l.roundTrip(ctx, r, "identity")
	if err == nil && resp.StatusCode == http.StatusNotAcceptable && r.method == http.MethodGet {
		return l.roundTrip(ctx, r, "gzip")
	}
	return resp, body, err
}

func (l *link) roundTrip(ctx context.Context, r request, encoding string) (*http.Response, []byte, error) {
	req, err := l.request(ctx, r, encoding)
	if err != nil {
		return nil, nil, err
	}
	if r.method == http.MethodPost {
		// A reset must not meet a connection that the BMC has just dropped: it is
		// not repeated, and its outcome would be unknown.
		l.account.client.CloseIdleConnections()
	}
	resp, err := l.account.client.Do(req)
	if err != nil {
		return nil, nil, l.transportError(ctx, r.op, r.method, err)
	}
	defer resp.Body.Close()
	body, err := readBody(resp)
	if errors.Is(err, errTooLarge) {
		return nil, nil, l.unusable(r.op, err.Error())
	}
	if err == nil {
		// A BMC that ends a half-sent answer because we are closing the connection
		// looks like one that has finished.
		err = ctx.Err()
	}
	switch {
	case err == nil:
		return resp, body, nil
	case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
		e := l.timeoutError(r.op, r.method, cmp.Or(ctx.Err(), bare(err)))
		e.Err = &slowAnswer{e.Err}
		return nil, nil, e
	case errors.Is(err, io.ErrUnexpectedEOF) && r.method == http.MethodGet:
		return nil, nil, l.cut(r.op, "it ended before the length that it stated")
	}
	return nil, nil, l.transportError(ctx, r.op, r.method, err)
}

func (l *link) request(ctx context.Context, r request, encoding string) (*http.Request, error) {
	var body io.Reader
	if r.payload != nil {
		b, err := json.Marshal(r.payload)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, r.op, "encode request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, l.base.String()+r.uri, body)
	if err != nil {
		return nil, l.unusable(r.op, "it names a path that makes no URL")
	}
	switch {
	case r.token != "":
		req.Header.Set("X-Auth-Token", r.token)
	case !r.open:
		l.account.authorize(req)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", encoding)
	req.Header.Set("OData-Version", "4.0")
	req.Header.Set("User-Agent", "rackboot")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range r.headers {
		req.Header.Set(k, v)
	}
	return req, nil
}

var errTooLarge = errors.New("it is larger than 4 MiB")

// readBody reads a bounded body. Some BMCs compress although they were asked
// not to.
func readBody(resp *http.Response) ([]byte, error) {
	var from io.Reader = resp.Body
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		z, err := gzip.NewReader(io.LimitReader(resp.Body, maxAnswer+1))
		if err != nil {
			return nil, err
		}
		from = z
	}
	body, err := io.ReadAll(io.LimitReader(from, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		return nil, errTooLarge
	}
	return body, err
}
