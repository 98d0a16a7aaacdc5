package sim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// front is the network side of a BMC: it can refuse connections and hang.
type front struct {
	tls     *tls.Config
	h2Only  bool
	address string
	listen  func() (net.Listener, error)
	mark    net.Listener // of the port, where it is not the caller's

	mu      sync.Mutex
	handler http.Handler
	server  *http.Server // nil while connections are refused
	on      net.Listener // of the server
	serve   sync.WaitGroup
	hang    chan struct{} // closed when hanging ends; nil while it does not hang
	closed  bool
}

// newFront opens the listener, and has its address then; nobody is answered yet.
func newFront(c *tls.Config, h2Only bool, listen func() (net.Listener, error)) (*front, error) {
	f := &front{tls: c, h2Only: h2Only}
	if listen == nil {
		listen = func() (net.Listener, error) {
			if f.address == "" {
				return f.listenLoopback()
			}
			return listenAgain(f.address)
		}
	}
	f.listen = listen
	l, err := listen()
	if err != nil {
		return nil, err
	}
	f.address = l.Addr().String()
	f.on = l
	return f, nil
}

// begin answers what comes in.
func (f *front) begin(handler http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handler = handler
	f.start(f.on)
}

// listenLoopback takes a port below those that Linux takes for outgoing connections
// (32768 and up by default): a BMC that is away for a while finds its port free again. It
// marks the port on markAddress for as long as the BMC is there, as the tests of daemons do
// (integration/sim): who is away or has not begun to listen keeps its port too.
func (f *front) listenLoopback() (l net.Listener, err error) {
	for range 100 {
		port := 10_000 + rand.IntN(22_000)
		if f.mark, err = net.Listen("tcp", fmt.Sprintf("%s:%d", markAddress, port)); err != nil {
			continue
		}
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l, nil
		}
		_ = f.mark.Close() // nobody dials it
	}
	return nil, err
}

// listenAgain listens where it did before. A child that this process forks has a copy of
// each socket until it runs its program, in which a listener that was closed lives on.
func listenAgain(address string) (net.Listener, error) {
	for end := time.Now().Add(againWithin); ; time.Sleep(time.Millisecond) { // between tries
		l, err := net.Listen("tcp", address)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return l, err
		}
	}
}

const againWithin = 10 * time.Second

// markAddress is where nobody is reached.
const markAddress = "127.255.255.254"

// start serves a listener. f.mu is held.
func (f *front) start(l net.Listener) {
	server := &http.Server{
		Handler:           http.HandlerFunc(f.serveHTTP),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		TLSConfig:         f.tls.Clone(),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, useKey{}, new(lastUse))
		},
		Protocols: new(http.Protocols),
	}
	server.Protocols.SetHTTP1(!f.h2Only)
	server.Protocols.SetHTTP2(f.h2Only)
	f.server, f.on = server, l
	f.serve.Go(func() { _ = server.ServeTLS(l, "", "") })
}

func (f *front) serveHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	hang, handler := f.hang, f.handler
	f.mu.Unlock()
	if hang != nil {
		// The body is read so that the server notices when the client goes.
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxBody))
		select {
		case <-hang:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	handler.ServeHTTP(w, r)
}

func (f *front) set(r Reach) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return net.ErrClosed
	}
	if f.hang != nil && r != ReachHangs {
		close(f.hang)
		f.hang = nil
	}
	if f.hang == nil && r == ReachHangs {
		f.hang = make(chan struct{})
	}
	if r == ReachRefused {
		f.stop()
		return nil
	}
	if f.server == nil {
		l, err := f.listen()
		if err != nil {
			return err
		}
		f.start(l)
	}
	return nil
}

// stop closes the listener and all connections. f.mu is held.
func (f *front) stop() {
	if f.on != nil {
		_ = f.on.Close() // the server may not have it yet
		f.on = nil
	}
	if f.server != nil {
		_ = f.server.Close()
		f.server = nil
	}
}

func (f *front) close() {
	f.mu.Lock()
	f.closed = true
	if f.hang != nil {
		close(f.hang)
		f.hang = nil
	}
	f.stop()
	if f.mark != nil {
		_ = f.mark.Close() // nobody dials it
	}
	f.mu.Unlock()
	f.serve.Wait()
}
