package mirror

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// transport connects to one site: HTTP/1.1 and HTTP/2, without a proxy, cookies,
// compression or redirects.
func transport(c Config, s *site) *http.Transport {
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: c.Connect}).DialContext
	}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, c.Connect)
			defer cancel()
			return dial(ctx, network, address)
		},
		TLSClientConfig:        &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    c.Connect,
		ResponseHeaderTimeout:  c.Header,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    c.Fetches,
		IdleConnTimeout:        c.Idle,
	}
}

// ask sends a request and follows redirects that the base allows. The body, if there is
// one, ends with an error after Config.Idle without a byte. errFolder is an error of its
// own; other errors are unavailable or timeout, without secrets.
func (m *Mirror) ask(ctx context.Context, s *site, method string, u *url.URL, header http.Header) (*http.Response, error) {
	const op = "ask the mirror's origin"
	ctx, cancel := context.WithCancelCause(ctx)
	for range maxRedirects + 1 {
		req := (&http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}}).WithContext(ctx)
		maps.Copy(req.Header, header)
		req.Header.Set("Accept-Encoding", "identity") // what is kept has the size and bytes of the file
		req.Header.Set("User-Agent", userAgent)
		s.authorize(req)
		resp, err := s.next.RoundTrip(req)
		if err != nil {
			cancel(nil)
			return nil, s.broken(op, u, err)
		}
		if !redirects(resp.StatusCode) {
			resp.Body = m.timed(ctx, cancel, resp.Body, u)
			return resp, nil
		}
		err = resp.Body.Close()
		if err == nil {
			u, err = s.follow(op, u, resp.Header.Get("Location"))
		}
		if err != nil {
			cancel(nil)
			return nil, err
		}
	}
	cancel(nil)
	return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s redirects more than %d times", show(s.url), maxRedirects)
}

func redirects(status int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, status)
}

// follow is where a redirect leads.
func (s *site) follow(op string, from *url.URL, location string) (*url.URL, error) {
	to, err := from.Parse(location)
	if err != nil || location == "" || len(location) > 8<<10 {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s redirects to what is no URL", show(from))
	}
	host, where := "", hostOther
	if host, err = canonicalHost(strings.ToLower(to.Host), to.Scheme); err == nil {
		switch {
		case host == s.url.Host:
			where = hostOwn
		case slices.Contains(s.hosts, host):
			where = hostListed
		}
	}
	folder := from.Host == host && to.Path == from.Path+"/"
	switch redirect(folder, from.Scheme, to.Scheme, to.User != nil, where) {
	case verdictFolder:
		return nil, errFolder
	case verdictFollow:
		to.Host, to.Fragment, to.RawFragment = host, "", ""
		return to, nil
	case verdictRefuse:
	}
	return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s redirects to %s, which is not allowed", show(from), show(to)).
		WithHint("name the host in repositories.bases[].hosts of %s in the agent's file; from https to http is never followed", show(s.url))
}

// broken is an error of the connection.
func (s *site) broken(op string, u *url.URL, err error) error {
	code := protocol.CodeUnavailable
	var timed net.Error
	if errors.As(err, &timed) && timed.Timeout() {
		code = protocol.CodeTimeout
	}
	return protocol.Errorf(code, op, "%s: %s", show(u), s.scrub(err.Error())).
		WithHint("check the way from the agent to %s, its certificate, and the URL of the repository", u.Host)
}

// timedBody ends when no byte came for a while.
type timedBody struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stalled error
	idle    time.Duration
	timer   *time.Timer
}

func (m *Mirror) timed(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, u *url.URL) *timedBody {
	stalled := protocol.Errorf(protocol.CodeTimeout, "read from the mirror's origin", "%s sent nothing for %s", show(u), m.cfg.Idle).
		WithHint("check the way from the agent to %s", u.Host)
	return &timedBody{body, ctx, cancel, stalled, m.cfg.Idle, time.AfterFunc(m.cfg.Idle, func() { cancel(stalled) })}
}

// Read reads, and moves the deadline if bytes came.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.timer.Reset(b.idle)
	}
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(b.ctx), b.stalled) {
		err = b.stalled
	}
	return n, err
}

// Close ends the request.
func (b *timedBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
