package rig

import (
	"context"
	"net"
	"sync"
	"time"
)

// Way is which of a wire's two ways is meant.
type Way string

// The ways.
const (
	Both Way = "both"
	Out  Way = "out"  // what who dialled sends
	Back Way = "back" // what is answered
)

// Wire is a TCP proxy that can be cut: nothing passes then, connections stay open and new
// ones are taken and not answered, as behind a switch that lost a link. One way may be cut alone.
type Wire struct {
	listener net.Listener
	to       string
	filter   *filter // drops packets; nil: what is cut is not read

	mu   sync.Mutex
	cut  map[Way]chan struct{} // Out and Back; closed when it is whole, absent is whole
	open map[net.Conn]bool
	done bool
}

func newWire(at, to string) (*Wire, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	w := &Wire{listener: l, to: to, cut: map[Way]chan struct{}{}, open: map[net.Conn]bool{}}
	go w.accept()
	return w, nil
}

// Cut cuts the wire, and Mend mends it. Connections of before a cut are lost when it is
// mended, so that nothing waits for a timeout of minutes.
func (w *Wire) Cut() { _ = w.CutWay(Both) } // without a filter nothing fails

// CutWay cuts one way, or both. Errors are of the filter.
func (w *Wire) CutWay(way Way) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range []Way{Out, Back} {
		if w.cut[x] == nil && (way == x || way == Both) {
			w.cut[x] = make(chan struct{})
		}
	}
	if w.filter == nil {
		return nil
	}
	return w.filter.cut(w.listener, way)
}

// Mend mends the wire.
func (w *Wire) Mend() { _ = w.mend() } // without a filter nothing fails

func (w *Wire) mend() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cut) == 0 {
		return nil
	}
	if w.filter != nil {
		err = w.filter.mend(w.listener)
	}
	for _, c := range w.cut {
		close(c)
	}
	clear(w.cut)
	for c := range w.open {
		_ = c.Close() // its copier ends, and forgets it
	}
	return err
}

// whole waits until a way of the wire is whole.
func (w *Wire) whole(way Way) {
	for {
		w.mu.Lock()
		cut := w.cut[way]
		w.mu.Unlock()
		if cut == nil {
			return
		}
		<-cut
	}
}

func (w *Wire) accept() {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return // closed
		}
		go w.serve(c)
	}
}

func (w *Wire) keep(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return false
	}
	w.open[c] = true
	return true
}

func (w *Wire) forget(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, c)
	_ = c.Close() // both ends are gone
}

// dialTimeout bounds a connection to the other end, which is on this host.
const dialTimeout = 5 * time.Second

func (w *Wire) serve(in net.Conn) {
	if !w.keep(in) {
		_ = in.Close() // the rig ends
		return
	}
	defer w.forget(in)
	// A connection is made by messages that go both ways.
	w.whole(Out)
	w.whole(Back)
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	out, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.to)
	cancel()
	if err != nil {
		return
	}
	if !w.keep(out) {
		_ = out.Close() // the rig ends
		return
	}
	defer w.forget(out)
	var both sync.WaitGroup
	both.Go(func() { w.copy(in, out, Back) })
	both.Go(func() { w.copy(out, in, Out) })
	both.Wait()
}

// copy carries bytes one way until either end closes.
func (w *Wire) copy(to, from net.Conn, way Way) {
	defer func() {
		_ = to.Close() // ends the other way, too
		_ = from.Close()
	}()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		w.whole(way)
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// close ends the wire and its connections.
func (w *Wire) close() {
	w.Mend()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	_ = w.listener.Close()
	for c := range w.open {
		_ = c.Close()
	}
}
