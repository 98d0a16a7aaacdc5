package conns

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A server that is told to end answers what it has begun, and no longer than it was given.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		grace time.Duration
		whole bool
	}{
		"in time":  {10 * time.Second, true},
		"too late": {10 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, proceed := make(chan struct{}), make(chan struct{})
			srv := &http.Server{ReadHeaderTimeout: time.Second, TLSConfig: certificate(t), Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				close(begun)
				<-proceed
			})}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended, answered := make(chan error, 1), make(chan error, 1)
			go func() { ended <- ServeTLS(ctx, srv, l, Config{Total: 8, PerSource: 8}, row.grace) }()
			go func() {
				client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
				resp, err := client.Get("https://" + l.Addr().String())
				if err == nil {
					err = resp.Body.Close()
				}
				answered <- err
			}()
			<-begun
			stop()
			if row.whole {
				close(proceed)
			}
			if err := <-ended; (err == nil) != row.whole || err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			}
			if err := <-answered; (err == nil) != row.whole {
				t.Errorf("the request ended with %v", err)
			}
			if !row.whole {
				close(proceed)
			}
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
				_ = c.Close()
				t.Error("it still listens")
			}
		})
	}
}

// A listener that breaks ends it at once.
func TestServeTLSBroken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Second, TLSConfig: certificate(t)}
	if err := ServeTLS(t.Context(), srv, l, Config{Total: 1, PerSource: 1}, time.Second); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it ended with %v", err)
	}
}

// certificate is that of httptest.
func certificate(t *testing.T) *tls.Config {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	return s.TLS.Clone()
}
