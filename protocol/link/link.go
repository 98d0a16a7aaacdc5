package link

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/protocol"
)

// Link is a connection to a broker that is made again whenever it is lost. Its
// methods are safe for concurrent use; Run is called once.
type Link struct {
	cfg     Config
	at      endpoint // of Config.Broker
	failed  int      // connections in a row that were not made; used by Run only
	queue   *queue
	metrics *metrics
	current atomic.Pointer[session] // nil while not connected and subscribed
	running atomic.Bool
	wg      sync.WaitGroup
}

// New checks the configuration; it does not connect. Errors: invalid, and
// internal if the metrics are registered already.
func New(cfg Config) (*Link, error) {
	at, err := cfg.check()
	if err != nil {
		return nil, err
	}
	l := &Link{cfg: cfg, at: at, queue: newQueue(cfg.QueueMessages, cfg.QueueBytes)}
	if l.metrics, err = newMetrics(cfg.Registerer, l.queue, l.inFlight); err != nil {
		return nil, err
	}
	return l, nil
}

// Connected says whether the link is connected and subscribed. It is a hint:
// the next Publish may find the connection lost.
func (l *Link) Connected() bool { return l.current.Load() != nil }

// inFlight counts the publishes of the present connection that are not done.
func (l *Link) inFlight() int {
	if s := l.current.Load(); s != nil {
		return len(s.slots)
	}
	return 0
}

// Run keeps the link up until ctx ends and returns nil then; all its goroutines
// have ended. A second call is refused with conflict.
func (l *Link) Run(ctx context.Context) error {
	if l.running.Swap(true) {
		return protocol.Errorf(protocol.CodeConflict, "link.Run", "the link runs already")
	}
	defer l.wg.Wait()
	l.wg.Go(func() { l.dispatch(ctx) })
	first := time.Duration(l.cfg.Rand() * float64(l.cfg.FirstDelay))
	if first > 0 {
		l.cfg.Logger.Info("waits before the first connection, so that not all agents come at once", "wait", first.Round(time.Millisecond), "at_most", l.cfg.FirstDelay)
	}
	if !sleep(ctx, first) {
		return nil
	}
	wait := backoff{low: l.cfg.MinBackoff, high: l.cfg.MaxBackoff, rand: l.cfg.Rand}
	for {
		start := time.Now()
		to, err := l.target()
		if err == nil {
			err = l.attempt(ctx, to)
		}
		if ctx.Err() != nil {
			return nil
		}
		wait.lived(time.Since(start))
		pause := wait.next()
		l.cfg.Logger.Warn("broker connection down", "broker", to.at.address, "err", err, "retry_in", pause)
		if !sleep(ctx, pause) {
			return nil
		}
	}
}

// attempt makes one connection and returns when it has ended, with the cause.
func (l *Link) attempt(ctx context.Context, to target) error {
	s, err := l.connect(ctx, to)
	l.failed++
	switch {
	case errors.Is(err, errRefused):
		l.metrics.connects.WithLabelValues(resultRefused).Inc()
		return err
	case err != nil:
		l.metrics.connects.WithLabelValues(resultFailed).Inc()
		return err
	}
	l.failed = 0
	l.metrics.connects.WithLabelValues(resultOK).Inc()
	l.metrics.connected.Set(1)
	l.cfg.Logger.Info("broker connection up", "broker", to.at.address)
	l.wg.Go(func() { s.write(l.cfg.QoS) })
	l.current.Store(s)

	up, cancel := context.WithCancel(ctx)
	var connected sync.WaitGroup
	if l.cfg.OnConnect != nil {
		connected.Go(func() { l.cfg.OnConnect(up) })
	}
	select {
	case <-ctx.Done():
	case <-s.lost:
	}
	l.current.Store(nil)
	l.metrics.connected.Set(0)
	cancel()
	s.close()
	connected.Wait()
	return s.cause
}

// arrived is called by paho's reader and never waits.
func (l *Link) arrived(topic string, payload []byte) {
	l.metrics.received.Inc()
	if n := l.queue.push(message{topic, payload}); n > 0 {
		l.metrics.dropped.Add(float64(n))
	}
}

func (l *Link) dispatch(ctx context.Context) {
	for {
		m, ok := l.queue.pop(ctx)
		if !ok {
			return
		}
		l.cfg.OnMessage(m.topic, m.payload)
	}
}
