package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// maxProblem and maxJSON bound answers in bytes. A backup or an uploaded file has no bound.
	maxProblem = 1 << 20
	maxJSON    = 256 << 20
	// answerTimeout bounds the wait for the first byte of an answer. How long a whole call may take says its context.
	answerTimeout = 30 * time.Second
)

// Config says where the hub is and who calls.
type Config struct {
	URL   string // https://host[:port]; http on loopback only
	CA    []byte // PEM certificates that sign the hub's; empty: the system's
	Token string // empty with a certificate
	// Certificates are client certificates, instead of Token.
	Certificates []tls.Certificate
}

// New makes a client, which is safe for concurrent use. Of a call, what is nil in the answer was not said: of a call without an
// error the field of its status is there. Errors are *[Problem] where the hub says what is wrong.
func New(cfg Config) (*ClientWithResponses, error) {
	at, err := url.Parse(cfg.URL)
	if err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" {
		return nil, errors.New("the hub's URL is not https://host[:port]")
	}
	if ip := net.ParseIP(at.Hostname()); at.Scheme != "https" && (at.Scheme != "http" || at.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return nil, fmt.Errorf("the hub's URL %s is not https: a token must not travel in the clear", at.Redacted())
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: answerTimeout, ResponseHeaderTimeout: answerTimeout,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: cfg.Certificates},
	}
	if len(cfg.CA) > 0 {
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(cfg.CA) {
			return nil, errors.New("the CA has no PEM certificate: give the file ca.pem that the hub wrote")
		}
	}
	// A redirect would carry the token elsewhere; the hub sends none.
	bare := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return NewClientWithResponses(cfg.URL, WithHTTPClient(hub{bare}), WithRequestEditorFn(func(_ context.Context, req *http.Request) error {
		if cfg.Token != "" {
			req.Header.Set("Authorization", "Bearer "+cfg.Token)
		}
		return nil
	}))
}

// hub has what it refuses be an error.
type hub struct{ http *http.Client }

// Do implements HttpRequestDoer.
func (h hub) Do(req *http.Request) (*http.Response, error) {
	resp, err := h.http.Do(req)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode < http.StatusMultipleChoices {
		if kind == "application/json" {
			resp.Body = bounded{io.LimitReader(resp.Body, maxJSON), resp.Body}
		}
		return resp, nil
	}
	defer resp.Body.Close()
	var p Problem
	if kind == "application/problem+json" && json.NewDecoder(io.LimitReader(resp.Body, maxProblem)).Decode(&p) == nil {
		p.Status = int64(resp.StatusCode)
		return nil, &p
	}
	return nil, fmt.Errorf("%s answered %s without a problem: check that the URL is that of a hub", req.URL.Redacted(), resp.Status)
}

// bounded is a body of which no more is read than is bounded.
type bounded struct {
	io.Reader
	io.Closer
}

// ProblemOf returns what a hub has refused, and nil where an error is of another kind, or nil.
func ProblemOf(err error) *Problem {
	p, _ := errors.AsType[*Problem](err)
	return p
}

// Error implements error. Decide by Code, which docs/reference/codes.md lists, and not by the text.
func (p *Problem) Error() string {
	if p.Op == "" {
		return p.Detail + ": " + p.Code
	}
	return p.Op + ": " + p.Detail + ": " + p.Code
}
