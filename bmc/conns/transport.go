package conns

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Config is what a Transport is made of. All of it but TLS is to be set.
type Config struct {
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS says whom to trust; nil where no address is https.
	TLS *tls.Config
	// HandshakeTimeout bounds a TLS handshake, IdleTimeout how long a connection waits for the
	// next exchange.
	HandshakeTimeout, IdleTimeout time.Duration
	// MaxHeaderBytes bounds the header of an answer.
	MaxHeaderBytes int64
	// MaxConns is how many exchanges may go on at once, and so how many connections there are.
	MaxConns int
	// Pool lends buffers to exchanges; several transports may share one.
	Pool *Pool
}

// Transport is a http.RoundTripper for one BMC. It has as few connections as exchanges went on at
// once, and takes the one that was used last. It is safe for concurrent use.
type Transport struct {
	cfg   Config
	turns chan struct{} // one for each exchange that goes on

	mu   sync.Mutex
	idle []*conn         // the one that was used last is the last
	two  *http.Transport // of a BMC that speaks HTTP/2; nil until it said so
}

var _ http.RoundTripper = (*Transport)(nil)

// New makes one without a connection.
func New(cfg Config) *Transport {
	return &Transport{cfg: cfg, turns: make(chan struct{}, cfg.MaxConns)}
}

// errScheme is an address that is neither http nor https.
var errScheme = errors.New("the scheme is neither http nor https")

// RoundTrip implements http.RoundTripper. Nothing is sent over a connection that the BMC is known to have ended, or
// on which it has said something while nobody asked. A request without a body is sent again, over another connection, where one
// that had waited ended before a byte of the answer came.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	defer func() {
		if req.Body != nil {
			_ = req.Body.Close() // it is in memory
		}
	}()
	if two := t.spokenTwo(); two != nil {
		return two.RoundTrip(req.Clone(req.Context()))
	}
	ctx := req.Context()
	select {
	case t.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	done := func() { <-t.turns }
	safe := req.Method == http.MethodGet || req.Method == http.MethodHead
	for {
		c, waited := t.waiting(), true
		if c == nil {
			var err error
			waited = false
			if c, err = t.open(ctx, req.URL); err != nil || c == nil {
				done()
				if err == nil {
					return t.spokenTwo().RoundTrip(req.Clone(ctx))
				}
				return nil, err
			}
		}
		resp, heard, err := c.exchange(req, done)
		if err == nil {
			return resp, nil
		}
		c.close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else if waited && safe && !heard {
			continue // there are less of them each time
		}
		done()
		return nil, err
	}
}

// CloseIdleConnections ends those that wait.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	idle, two := t.idle, t.two
	t.idle = nil
	t.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	if two != nil {
		two.CloseIdleConnections()
	}
}

func (t *Transport) spokenTwo() *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.two
}

// waiting takes the connection that was used last; nil if none waits. One that the BMC has ended, or on which it
// has said something since, is left out: that would be taken for the answer to what is asked next.
func (t *Transport) waiting() *conn {
	for {
		t.mu.Lock()
		n := len(t.idle)
		if n == 0 {
			t.mu.Unlock()
			return nil
		}
		c := t.idle[n-1]
		t.idle = t.idle[:n-1]
		t.mu.Unlock()
		c.expiry.Stop()
		if c.quiet() {
			return c
		}
		c.close()
	}
}

// rest has a connection wait for the next exchange.
func (t *Transport) rest(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.two != nil {
		c.close()
		return
	}
	t.idle = append(t.idle, c)
	if c.expiry == nil {
		c.expiry = time.AfterFunc(t.cfg.IdleTimeout, func() { t.expire(c) })
	} else {
		c.expiry.Reset(t.cfg.IdleTimeout)
	}
}

// expire ends a connection that has waited for too long.
func (t *Transport) expire(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.idle {
		if other == c {
			t.idle = append(t.idle[:i], t.idle[i+1:]...)
			c.close()
			return
		}
	}
}

// open dials, and shakes hands. It returns no connection where the BMC speaks HTTP/2: then all
// is net/http's.
func (t *Transport) open(ctx context.Context, to *url.URL) (*conn, error) {
	port := to.Port()
	switch {
	case to.Scheme != "http" && to.Scheme != "https":
		return nil, errScheme
	case port == "" && to.Scheme == "http":
		port = "80"
	case port == "":
		port = "443"
	}
	raw, err := t.cfg.DialContext(ctx, "tcp", net.JoinHostPort(to.Hostname(), port))
	if err != nil {
		return nil, err
	}
	if to.Scheme == "http" {
		return newConn(t, raw, raw), nil
	}
	conf := &tls.Config{} //nolint:gosec // whoever makes a Transport says what is trusted
	if t.cfg.TLS != nil {
		conf = t.cfg.TLS.Clone()
	}
	if conf.ServerName == "" {
		conf.ServerName = to.Hostname()
	}
	if len(conf.NextProtos) == 0 {
		conf.NextProtos = []string{"h2", "http/1.1"}
	}
	shaking, cancel := context.WithTimeout(ctx, t.cfg.HandshakeTimeout)
	defer cancel()
	secure := tls.Client(raw, conf)
	if err := secure.HandshakeContext(shaking); err != nil {
		_ = raw.Close() // nothing was sent
		return nil, err
	}
	if secure.ConnectionState().NegotiatedProtocol == "h2" {
		_ = secure.Close()
		t.speakTwo()
		return nil, nil
	}
	return newConn(t, raw, secure), nil
}

// speakTwo leaves the BMC to net/http from now on.
func (t *Transport) speakTwo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.two != nil {
		return
	}
	t.two = &http.Transport{
		// No Proxy: credentials of BMCs go to the BMC or nowhere.
		DialContext: t.cfg.DialContext, TLSClientConfig: t.cfg.TLS, TLSHandshakeTimeout: t.cfg.HandshakeTimeout, IdleConnTimeout: t.cfg.IdleTimeout,
		MaxConnsPerHost: t.cfg.MaxConns, DisableCompression: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: t.cfg.MaxHeaderBytes,
		ReadBufferSize: bufferSize, WriteBufferSize: bufferSize,
	}
}
