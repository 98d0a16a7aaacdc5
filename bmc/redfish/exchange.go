package redfish

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"rackboot/bmc/conns"
	"rackboot/bmc/oldtls"
	"rackboot/protocol"
)

const (
	maxAnswer    = 4 << 20  // largest system resource seen: 60 KiB
	maxStated    = 64 << 10 // the most that is made room for because an answer says so
	maxRedirects = 3
	// idleTimeout is shorter than any BMC's own, which close in mid-use.
	idleTimeout = 20 * time.Second
)

var errTooLarge = errors.New("it is larger than 4 MiB")

// exchanger sends single requests to one BMC as one account, and reads their answers.
type exchanger struct {
	base                 *url.URL
	account              *account
	report               *reporter
	timeout, slowTimeout time.Duration
	seen                 func(uri string, body []byte) // nil: nobody
	dial                 func(ctx context.Context, network, address string) (net.Conn, error)
}

func newExchanger(a *account, report *reporter, config Config) *exchanger {
	return &exchanger{base: a.base, account: a, report: report, timeout: config.RequestTimeout, slowTimeout: config.InventoryTimeout, seen: config.Seen, dial: config.DialContext}
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

func newHTTPClient(config Config, trust *tls.Config, pool *conns.Pool) *http.Client {
	return &http.Client{
		Transport: conns.New(conns.Config{
			DialContext: config.DialContext, TLS: trust, HandshakeTimeout: config.RequestTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 1 << 16,
			// One for power, one for inventory, one for events.
			MaxConns: 3, Pool: pool,
		}),
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

// exchange sends one request and reads its answer, whatever the status. A GET
// that is refused with 406 for wanting no compression (HPE Gen10+, registries)
// is sent again without that wish.
func (x *exchanger) exchange(ctx context.Context, r request) (*http.Response, []byte, error) {
	timeout := x.timeout
	if r.slow {
		timeout = x.slowTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, body, err := x.roundTrip(ctx, r, "identity")
	if err == nil && resp.StatusCode == http.StatusNotAcceptable && r.method == http.MethodGet {
		resp, body, err = x.roundTrip(ctx, r, "gzip")
	}
	if x.seen != nil && err == nil && resp.StatusCode == http.StatusOK && r.method == http.MethodGet {
		x.seen(r.uri, body)
	}
	return resp, body, err
}

func (x *exchanger) roundTrip(ctx context.Context, r request, encoding string) (*http.Response, []byte, error) {
	req, err := x.request(ctx, r, encoding)
	if err != nil {
		return nil, nil, err
	}
	if r.method == http.MethodPost {
		// A reset must not meet a connection that the BMC has just dropped: it is
		// not repeated, and its outcome would be unknown.
		x.account.client.CloseIdleConnections()
	}
	resp, err := x.account.client.Do(req)
	if err != nil {
		return nil, nil, x.report.transportError(ctx, r.op, r.method, x.named(ctx, err))
	}
	defer resp.Body.Close()
	body, err := readBody(resp)
	if errors.Is(err, errTooLarge) {
		return nil, nil, x.report.unusable(r.op, err.Error())
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
		e := x.report.timeoutError(r.op, r.method, cmp.Or(ctx.Err(), bare(err)))
		e.Err = &slowAnswer{e.Err}
		return nil, nil, e
	case errors.Is(err, io.ErrUnexpectedEOF) && r.method == http.MethodGet:
		return nil, nil, x.report.cut(r.op, "it ended before the length that it stated")
	}
	return nil, nil, x.report.transportError(ctx, r.op, r.method, err)
}

// named names what is too old, where the BMC ended the handshake: it has no cipher suite that is offered
// to who is not said to be old.
func (x *exchanger) named(ctx context.Context, err error) error {
	var alert *net.OpError
	if x.base.Scheme != "https" || x.account.key.legacyTLS || !errors.As(err, &alert) || alert.Op != "remote error" {
		return err
	}
	address := x.base.Host
	if x.base.Port() == "" {
		address = net.JoinHostPort(x.base.Hostname(), "443")
	}
	old := oldtls.Look(ctx, func(ctx context.Context) (net.Conn, error) { return x.dial(ctx, "tcp", address) })
	if old == (oldtls.Old{}) {
		return err
	}
	return &oldtls.Error{Old: old}
}

func (x *exchanger) request(ctx context.Context, r request, encoding string) (*http.Request, error) {
	var body io.Reader
	if r.payload != nil {
		b, err := json.Marshal(r.payload)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, r.op, "encode request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, x.base.String()+r.uri, body)
	if err != nil {
		return nil, x.report.unusable(r.op, "it names a path that makes no URL")
	}
	switch {
	case r.token != "":
		req.Header.Set("X-Auth-Token", r.token)
	case !r.open:
		x.account.authorize(req)
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
	var body bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= maxStated {
		body.Grow(int(n) + bytes.MinRead) // else it grows by copies
	}
	_, err := body.ReadFrom(io.LimitReader(from, maxAnswer+1))
	if err == nil && body.Len() > maxAnswer {
		return nil, errTooLarge
	}
	return body.Bytes(), err
}
