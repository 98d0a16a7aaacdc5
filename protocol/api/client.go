package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
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
	// firstPause is the wait before the second try; it doubles.
	firstPause = 200 * time.Millisecond
)

// Config says where the hub is and who calls.
type Config struct {
	BaseURL string // https://host[:port]
	CA      []byte // PEM certificates that sign the hub's; empty: the system's
	Token   string // empty only for Join
	// HTTPClient replaces the client that is made from CA; for tests.
	HTTPClient *http.Client
}

// Client calls a hub. Each call has a deadline, that of its context or 30 s.
// Only GETs are repeated, and only while the hub is unavailable. Errors are
// *protocol.Error with the hub's code and hint; see [Problem.Err]. All methods
// are safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// NewClient makes a client; invalid if the URL is not https (http is allowed on
// loopback) or the CA cannot be read.
func NewClient(cfg Config) (*Client, error) {
	const op = "connect to hub"
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the hub's URL is not https://host[:port]").
			WithHint("rackctl context set NAME --url https://hub.example:8443")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the hub's URL %s is not https", u.Redacted()).
			WithHint("a token must not travel in the clear; use https://%s", u.Host)
	}
	if strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the token is not one word of visible ASCII").
			WithHint("check the token file")
	}
	client := cfg.HTTPClient
	if client == nil {
		transport := &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConns:        4, IdleConnTimeout: time.Minute,
			ForceAttemptHTTP2: true,
			TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS13},
		}
		if len(cfg.CA) > 0 {
			pool := x509.NewCertPool()
			if !pool.AppendCertsFromPEM(cfg.CA) {
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "the CA has no PEM certificate").
					WithHint("give the file ca.pem that the hub wrote")
			}
			transport.TLSClientConfig.RootCAs = pool
		}
		client = &http.Client{Transport: transport}
	}
	// A redirect would carry the token elsewhere; the hub sends none.
	bare := *client
	bare.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: u.Scheme + "://" + u.Host, token: cfg.Token, http: &bare}, nil
}

// CloseIdle closes connections that no call uses.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// call sends one request with in as JSON body (nil: none) and decodes the
// answer into out (nil: ignored).
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
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
		err := c.once(ctx, method, path, body, out)
		if method != http.MethodGet || protocol.CodeOf(err) != protocol.CodeUnavailable || try == getTries {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		pause *= 2
	}
}

func (c *Client) once(ctx context.Context, method, path string, body []byte, out any) error {
	op := strings.ToLower(method) + " " + path
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.transportError(ctx, op, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return c.transportError(ctx, op, err)
	case len(raw) > maxAnswer:
		return protocol.Errorf(protocol.CodeInternal, op, "the hub's answer is longer than %d bytes", maxAnswer)
	case resp.StatusCode >= 300:
		return problemIn(op, resp, raw)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "the hub's answer cannot be read: %w", err).
			WithHint("hub and rackctl may be of different versions; compare them with rackctl version")
	}
	return nil
}

func problemIn(op string, resp *http.Response, raw []byte) error {
	if mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mt == ProblemType {
		var p Problem
		if json.Unmarshal(raw, &p) == nil {
			p.Status = resp.StatusCode
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

func (c *Client) transportError(ctx context.Context, op string, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // the URL is in the hint
	}
	var unknownCA x509.UnknownAuthorityError
	var wrongHost x509.HostnameError
	switch {
	case errors.As(err, &unknownCA), errors.As(err, &wrongHost):
		return protocol.Errorf(protocol.CodeDenied, op, "the hub's certificate is not trusted: %w", err).
			WithHint("give the hub's CA and the name that is in its certificate: rackctl context set NAME --ca ca.pem --url ...")
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.CodeTimeout, op, "no answer in time: %w", err).
			WithHint("the outcome is unknown; check with a get before trying again")
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "hub not reached: %w", err).
		WithHint("check that the hub runs at %s and that this host can reach it", c.base)
}
