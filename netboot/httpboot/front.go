package httpboot

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// headSize is what is read of a request at once. Firmware sends less than 300 bytes;
	// a header that is longer is net/http's.
	headSize = 4 << 10
	// acceptPause is after a connection could not be taken, for want of descriptors.
	acceptPause = 100 * time.Millisecond
)

// front answers what boot clients ask: GET and HEAD without a body, one after the other on
// a connection that is kept. Everything else goes to net/http, with the connection: what
// has a body, is malformed or old, or asks for something of the connection. Both have the
// same handler.
//
// net/http starts a goroutine for each request, which waits for the client to go away,
// moves several deadlines and sends the header by itself. For a small file, of which an
// installer fetches thousands, that is most of the work. See docs/adr/0048.
//
// A request of the front has no context that ends with the client, and its handler keeps
// nothing of it: the next one overwrites it. It is safe for concurrent use.
type front struct {
	handler http.Handler
	secure  *tls.Config // nil for plain HTTP
	log     *slog.Logger
	others  *passed
	heads   sync.Pool // of *[]byte: answers before they are sent
	pieces  sync.Pool // of *[]byte: of files that are written, as with TLS

	stopping atomic.Bool
	mu       sync.Mutex // of what follows, and held while stopping is set
	on       []*limited
	links    map[*link]struct{}
	gone     sync.WaitGroup
}

func newFront(h http.Handler, secure *tls.Config, log *slog.Logger) *front {
	f := &front{handler: h, secure: secure, log: log, others: newPassed(), links: make(map[*link]struct{})}
	f.heads.New = func() any {
		b := make([]byte, 0, answerSize)
		return &b
	}
	f.pieces.New = func() any {
		b := make([]byte, pieceSize)
		return &b
	}
	return f
}

// serve takes connections until the listener is closed.
func (f *front) serve(on *limited) error {
	f.mu.Lock()
	f.on = append(f.on, on)
	f.mu.Unlock()
	for !f.stopping.Load() {
		c, err := on.accept()
		if err == nil {
			f.enter(c)
			continue
		}
		if temporary, ok := errors.AsType[net.Error](err); ok && temporary.Temporary() { //nolint:staticcheck // as net/http does, for accept alone
			f.log.Debug("http boot connection cannot be taken", "err", err)
			if on.pause(acceptPause) {
				continue
			}
		}
		if !f.stopping.Load() {
			return err
		}
	}
	_ = on.Close() // the server stops
	return http.ErrServerClosed
}

// enter serves a connection, unless the server stops.
func (f *front) enter(c accepted) {
	if f.secure != nil {
		c = secure(c, f.secure)
	}
	l := newLink(f, c)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping.Load() {
		c.cut() // nothing was said on it
		return
	}
	f.links[l] = struct{}{}
	f.gone.Go(l.serve)
}

// left forgets a connection.
func (f *front) left(l *link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.links, l)
}

// rest says that a connection waits for a request from now on. It is false if the server
// stops.
func (f *front) rest(l *link) bool {
	l.waits.Store(true)
	return !f.stopping.Load()
}

// shutdown closes the listeners, ends connections that wait, and the others when they were
// answered; all of them at the end of ctx, when it waits for no handler any more.
func (f *front) shutdown(ctx context.Context) {
	f.mu.Lock()
	f.stopping.Store(true)
	for _, on := range f.on {
		_ = on.Close()
	}
	for l := range f.links {
		if l.waits.Load() {
			l.conn.cut() // it sees
		}
	}
	f.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		f.gone.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		for l := range f.links {
			l.conn.cut() // what it sends ends here
		}
	}
}
