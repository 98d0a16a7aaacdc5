package fleet

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/link"
)

// line is an agent's connection to the broker for as long as its rack has power, and what comes by it. The zero
// value is that of a rack without power: nothing comes.
type line struct {
	link  *link.Link
	inbox chan packet
	up    chan struct{}
	stop  context.CancelFunc
	ended chan error
}

type packet struct {
	topic   string
	payload []byte
}

// inboxSize bounds what waits for the agent; beyond it the link's queue fills.
const inboxSize = 8

// connect begins a line, whose first connection is made after the delay. It ends with ctx.
func (a *agent) connect(ctx context.Context, delay time.Duration) error {
	l := line{inbox: make(chan packet, inboxSize), up: make(chan struct{}, 1), ended: make(chan error, 1)}
	ctx, l.stop = context.WithCancel(ctx)
	config := a.config
	config.FirstDelay, config.Logger = delay, slog.New(slog.DiscardHandler)
	waited := false
	config.Rand = func() float64 { // the link waits for a part of the delay
		if !waited {
			waited = true
			return 1
		}
		return rand.Float64()
	}
	config.OnConnect = func(context.Context) { a.shared.counts.connects.Add(1); signal(l.up) }
	config.OnMessage = func(topic string, payload []byte) {
		select {
		case l.inbox <- packet{topic, payload}:
		case <-ctx.Done():
		}
	}
	var err error
	if l.link, err = link.New(config); err != nil {
		l.stop()
		return err
	}
	go func() { l.ended <- l.link.Run(ctx) }()
	a.line = l
	a.progress.link.Store(l.link)
	return nil
}

// disconnect ends the line, and returns when it has ended.
func (a *agent) disconnect() error {
	l := a.line
	a.line = line{}
	a.progress.link.Store(nil)
	if l.stop == nil {
		return nil
	}
	l.stop()
	return <-l.ended
}

// dialler connects from an address, or as a test wants.
func (a *agent) dialler(broker string, from net.Addr) (func(context.Context) (net.Conn, error), error) {
	u, err := url.Parse(broker)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "connect", "the hub's broker has the address %q", broker)
	}
	port := u.Port()
	if port == "" {
		port = "8883"
	}
	at := net.JoinHostPort(u.Hostname(), port)
	if a.cfg.Dial != nil {
		return func(ctx context.Context) (net.Conn, error) { return a.cfg.Dial(ctx, a.rack, at) }, nil
	}
	d := net.Dialer{LocalAddr: from}
	return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", at) }, nil
}
