package rig

import (
	"context"
	"net"
	"sync"
	"time"
)

// door is what stands before the APIs of several hubs: a proxy that gives each connection to the next hub that says
// that it is ready, as balancers do. Connections of a hub that is not are ended.
type door struct {
	listener net.Listener
	hubs     []*Hub
	stop     context.CancelFunc
	looking  sync.WaitGroup

	mu    sync.Mutex
	ready map[*Hub]bool
	open  map[net.Conn]*Hub
	next  int
}

// lookEvery is how often hubs are asked whether they are ready, and lookFor bounds the question.
const (
	lookEvery = 250 * time.Millisecond
	lookFor   = 750 * time.Millisecond
)

func newDoor(at string, hubs []*Hub) (*door, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	d := &door{listener: l, hubs: hubs, stop: stop, ready: map[*Hub]bool{}, open: map[net.Conn]*Hub{}}
	for _, h := range hubs {
		d.looking.Go(func() { d.look(ctx, h) })
	}
	go d.accept() // ends by close
	return d, nil
}

func (d *door) look(ctx context.Context, h *Hub) {
	for ctx.Err() == nil {
		ask, cancel := context.WithTimeout(ctx, lookFor)
		d.set(h, h.Ready(ask) == nil)
		cancel()
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}

func (d *door) set(h *Hub, ready bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready[h] = ready
	for c, of := range d.open {
		if of == h && !ready {
			_ = c.Close() // its copier ends, and forgets it
		}
	}
}

// pick is the next hub that is ready; nil if none is.
func (d *door) pick() *Hub {
	d.mu.Lock()
	defer d.mu.Unlock()
	for range d.hubs {
		h := d.hubs[d.next%len(d.hubs)]
		d.next++
		if d.ready[h] {
			return h
		}
	}
	return nil
}

func (d *door) accept() {
	for {
		c, err := d.listener.Accept()
		if err != nil {
			return // closed
		}
		go d.serve(c)
	}
}

func (d *door) keep(h *Hub, all ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range all {
		d.open[c] = h
	}
}

func (d *door) forget(all ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range all {
		delete(d.open, c)
		_ = c.Close() // both ends are gone
	}
}

func (d *door) serve(in net.Conn) {
	h := d.pick()
	if h == nil {
		_ = in.Close() // no hub is ready
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	out, err := (&net.Dialer{}).DialContext(ctx, "tcp", h.api)
	cancel()
	if err != nil {
		_ = in.Close() // the hub has ended
		return
	}
	d.keep(h, in, out)
	defer d.forget(in, out)
	w := &Wire{} // that is never cut
	var both sync.WaitGroup
	both.Go(func() { w.copy(in, out, Back) })
	both.Go(func() { w.copy(out, in, Out) })
	both.Wait()
}

// close ends the door and its connections.
func (d *door) close() {
	d.stop()
	d.looking.Wait()
	_ = d.listener.Close()
	for _, h := range d.hubs {
		d.set(h, false)
	}
}
