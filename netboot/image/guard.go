package image

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"rackboot/protocol"
)

// guard refuses plain HTTP to hosts that are not opted in, also after a redirect:
// the registry library falls back to it for private addresses by itself. It ends
// transfers that stand still.
type guard struct {
	next         http.RoundTripper
	plainAllowed func(host string) bool
	idle         time.Duration
}

// RoundTrip sends the request.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !g.plainAllowed(req.URL.Host) {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "registry", "%s does not answer by HTTPS, and plain HTTP to it is not allowed", req.URL.Host).
			WithHint("give the registry a certificate, or list %s among the plain-HTTP registries", req.URL.Host)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	resp, err := g.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	stalled := protocol.Errorf(protocol.CodeTimeout, "registry", "%s sent nothing for %s", req.URL.Host, g.idle).
		WithHint("check the registry and the network path to %s; the transfer can be repeated", req.URL.Host)
	resp.Body = &progressBody{
		ReadCloser: resp.Body, ctx: ctx, cancel: cancel, stalled: stalled, idle: g.idle,
		timer: time.AfterFunc(g.idle, func() { cancel(stalled) }),
	}
	return resp, nil
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
}

// Read reads; after the timer ran out it returns the timeout error.
func (b *progressBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.timer.Reset(b.idle)
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
