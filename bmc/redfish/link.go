package redfish

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
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
	base        *url.URL
	credentials bmc.Credentials
	client      *http.Client
	timeout     time.Duration
	deniedPause time.Duration
	lane        *lane
	metrics     *metrics
	logger      *slog.Logger
	closed      atomic.Bool
}

func (d *Dialer) httpClient(config *tls.Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			// No Proxy: credentials of BMCs go to the BMC or nowhere.
			DialContext:           d.config.DialContext,
			TLSClientConfig:       config,
			TLSHandshakeTimeout:   d.config.RequestTimeout,
			ResponseHeaderTimeout: d.config.RequestTimeout,
			IdleConnTimeout:       idleTimeout,
			MaxConnsPerHost:       1,
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
// success says nothing.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
		return errRedirect
	}
	return nil
}

// do sends one request and reads the whole answer. The answer's body is in
// memory. Every error is a *protocol.Error without secrets.
func (l *link) do(ctx context.Context, op, method, uri string, payload any, headers map[string]string) (*http.Response, error) {
	if err := checkURI(uri); err != nil {
		return nil, l.unusable(op, fmt.Sprintf("it names %.200q, which is not a path on it", uri))
	}
	leave, err := l.lane.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer leave()
	if l.closed.Load() {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "the driver for BMC %s is closed", l.base).
			WithHint("open it again; nothing was sent to the BMC")
	}
	if pause := l.lane.refusal(l.credentials, time.Now()); pause > 0 {
		return nil, l.deniedBefore(op, pause)
	}
	start := time.Now()
	resp, err := l.exchange(ctx, op, method, uri, payload, headers)
	took := time.Since(start)
	if l.closed.Load() { // closed meanwhile: leave no connection behind
		l.client.CloseIdleConnections()
	}
	l.metrics.done(op, took, err)
	l.logger.Debug("BMC request", "op", op, "method", method, "uri", uri, "took", took, "code", protocol.CodeOf(err))
	return resp, err
}

func (l *link) exchange(ctx context.Context, op, method, uri string, payload any, headers map[string]string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	var body io.Reader
	if payload != nil {
		b, err := json.Marshal(payload)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, op, "encode request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, l.base.String()+uri, body)
	if err != nil {
		return nil, l.unusable(op, "it names a path that makes no URL")
	}
	req.SetBasicAuth(l.credentials.Username, l.credentials.Password)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("OData-Version", "4.0")
	req.Header.Set("User-Agent", "rackboot")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	if method == http.MethodPost {
		// A reset must not meet a connection that the BMC has just dropped: it is
		// not repeated, and its outcome would be unknown.
		l.client.CloseIdleConnections()
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, l.transportError(ctx, op, method, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil {
		// A BMC that ends a half-sent answer because we are closing the connection
		// looks like one that has finished.
		err = ctx.Err()
	}
	if err != nil {
		return nil, l.transportError(ctx, op, method, err)
	}
	if len(answer) > maxAnswer {
		return nil, l.unusable(op, fmt.Sprintf("it is larger than %d bytes", maxAnswer))
	}
	if resp.StatusCode == http.StatusUnauthorized {
		l.lane.refuse(l.credentials, time.Now().Add(l.deniedPause))
	}
	if resp.StatusCode >= 300 {
		return nil, l.statusError(op, resp, answer)
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	return resp, nil
}
