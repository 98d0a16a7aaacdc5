package top

import (
	"context"
	"sync"
	"time"

	"rackboot/cmd/internal/cli/client"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// lookEvery is the pause between two questions for the last power-on of the server that is open: its rack's agent
// is asked each time. endedEvery is the pause once the power-on has ended.
const (
	lookEvery  = 2 * time.Second
	endedEvery = 10 * time.Second
)

// looker follows the last power-on of one server at a time. open is called by one goroutine.
type looker struct {
	ctx  context.Context // of all that it follows
	link *client.Link
	show func(any)

	stop  context.CancelFunc // of the server that is open; nil for none
	group sync.WaitGroup
}

// open follows another server; an empty name is none.
func (l *looker) open(name string) {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	if name == "" {
		return
	}
	ctx, stop := context.WithCancel(l.ctx)
	l.stop = stop
	l.group.Go(func() { l.follow(ctx, name) })
}

// close ends what open has begun, and waits for that.
func (l *looker) close() {
	l.open("")
	l.group.Wait()
}

func (l *looker) follow(ctx context.Context, name string) {
	for {
		pause := lookEvery
		c, err := l.link.Client()
		var t resource.Trace
		if err == nil {
			t, err = asked(ctx, func(ctx context.Context) (resource.Trace, error) { return c.Servers.Trace(ctx, name, 0) })
		}
		got := looked{server: name, trace: t}
		if err == nil {
			got.object, err = asked(ctx, func(ctx context.Context) (*resource.Server, error) { return api.Get[*resource.Server](ctx, c, name) })
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			got.why = err.Error()
		case t.Ended():
			pause = endedEvery
		}
		l.show(got)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
