package image

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/protocol"
)

// guard refuses plain HTTP to hosts that are not opted in, also after a redirect:
// the registry library falls back to it for private addresses by itself. It refuses to
// be sent to this host, or to what is on its link alone, such as a cloud's metadata. It
// ends transfers that stand still.
type guard struct {
	next         http.RoundTripper
	host         string // of the registry, as asked
	account      Account
	plainAllowed func(host string) bool
	idle         time.Duration
	limit        int64 // bytes of a body; 0 is none

	mu   sync.Mutex
	sent []string // what stood in Authorization headers, the newest last
}

// maxSent bounds what is remembered of them: a registry gives a token for each scope.
const maxSent = 8

// note remembers what proves who we are, so that it is kept out of errors.
func (g *guard) note(authorization string) {
	_, proof, ok := strings.Cut(authorization, " ")
	g.mu.Lock()
	defer g.mu.Unlock()
	if !ok || proof == "" || slices.Contains(g.sent, proof) {
		return
	}
	g.sent = append(g.sent, proof)
	g.sent = g.sent[max(0, len(g.sent)-maxSent):]
}

// proofs are what was sent.
func (g *guard) proofs() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.sent)
}

// RoundTrip sends the request.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !g.plainAllowed(req.URL.Host) {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "registry", "%s does not answer by HTTPS, and plain HTTP to it is not allowed", req.URL.Host).
			WithHint("give the registry a certificate, or list %s among the plain-HTTP registries", req.URL.Host)
	}
	if req.URL.Host != g.host && inner(req.URL.Hostname()) && !inner((&url.URL{Host: g.host}).Hostname()) {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "registry", "%s sends its clients to %s, which is an address of their own host or link", g.host, req.URL.Host).
			WithHint("look at who runs %s; a registry on this host is asked as such, by mirrors", g.host)
	}
	req, err := g.keep(req)
	if err != nil {
		return nil, err
	}
	g.note(req.Header.Get("Authorization"))
	ctx, cancel := context.WithCancelCause(req.Context())
	resp, err := g.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	stalled := protocol.Errorf(protocol.CodeTimeout, "registry", "%s sent nothing for %s", req.URL.Host, g.idle).
		WithHint("check the registry and the network path to %s; the transfer can be repeated", req.URL.Host)
	resp.Body = &progressBody{
		ReadCloser: resp.Body, ctx: ctx, cancel: cancel, stalled: stalled, idle: g.idle, limit: g.limit,
		timer: time.AfterFunc(g.idle, func() { cancel(stalled) }),
	}
	return resp, nil
}

// inner says whether a host is this one, or one that only this link has (RFC 6890), by
// what it is called. What a name resolves to is not looked at.
func inner(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761 section 6.3
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}

// progressBody restarts the timer with each read that brings bytes.
type progressBody struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stalled error
	idle    time.Duration
	timer   *time.Timer
	once    sync.Once
	limit   int64 // bytes; 0 is none
	n       int64
}

// Read reads; after the timer ran out it returns the timeout error.
func (b *progressBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.timer.Reset(b.idle)
	}
	if b.n += int64(n); b.limit > 0 && b.n > b.limit {
		return 0, protocol.Errorf(protocol.CodeInvalid, "registry", "%w", refuse(SignatureTooBig, "the registry answers with more than %d bytes", b.limit))
	}
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(b.ctx), b.stalled) {
		err = b.stalled
	}
	return n, err
}

// Close stops the timer and closes the body.
func (b *progressBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() {
		b.timer.Stop()
		b.cancel(nil)
	})
	return err
}
