package broker

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"rackboot/protocol"
)

// Broker is a running server, which is started anew when its store has failed. It is
// safe for concurrent use.
type Broker struct {
	cfg     Config
	host    string // of the MQTT listener
	port    int    // once it listens the one that it got, to get it again
	gate    *gate
	lock    *os.File
	metrics *brokerMetrics

	server atomic.Pointer[server.Server] // the one of now; it may have ended
	health health
	full   atomic.Bool // the store has what it may have

	mu     sync.Mutex
	conns  []*nats.Conn
	closed bool

	stop    context.CancelFunc // ends the watch
	watched chan struct{}      // is closed when it has ended
}

// Open starts the server; agents can connect when it returns. Errors: invalid
// for a bad configuration, unavailable if it cannot listen or open its store.
func Open(cfg Config) (*Broker, error) {
	const op = "broker.Open"
	host, port, err := cfg.check()
	if err != nil {
		return nil, err
	}
	b := &Broker{cfg: cfg, host: host, port: port, metrics: newBrokerMetrics(), watched: make(chan struct{})}
	b.gate = &gate{
		hub: cfg.HubIdentity, token: rand.Text(), log: cfg.Logger, refused: b.metrics.refused.Inc, refuse: cfg.Refuse,
		barred: &barred{until: map[visitor]time.Time{}},
		roster: &roster{
			log: cfg.Logger, by: map[string][]uint64{}, gone: b.metrics.replaced.Inc,
			cut:  func(id uint64) bool { return b.server.Load().DisconnectClientByID(id) == nil },
			live: func(id uint64) bool { return b.server.Load().GetClient(id) != nil },
		},
	}
	if b.lock, err = lock(cfg.Dir); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := b.start(ctx); err != nil {
		_ = b.lock.Close()
		return nil, err
	}
	if err := b.register(); err != nil {
		b.end()
		_ = b.lock.Close()
		return nil, protocol.Errorf(protocol.CodeInternal, op, "cannot register metrics: %w", err)
	}
	ctx, b.stop = context.WithCancel(context.Background())
	go b.watch(ctx)
	return b, nil
}

// start runs a server on the store. Agents are let in when it returns without an error.
func (b *Broker) start(ctx context.Context) error {
	const op = "broker.Open"
	options := b.cfg.options(b.host, b.port, b.gate)
	s, err := server.NewServer(options)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "server configuration: %w", err)
	}
	log := &logger{log: b.cfg.Logger}
	s.SetLoggerV2(log, false, false, false)
	b.gate.roster.forget()
	b.server.Store(s)
	s.Start() // returns at once: it accepts in goroutines of its own
	if text := log.cause(); text != "" || !s.ReadyForConnections(startTimeout) {
		b.end()
		return protocol.Errorf(protocol.CodeUnavailable, op, "broker on %s with store %s did not start: %s", b.cfg.MQTTListen, b.cfg.Dir, text).
			WithHint("check that no other hub runs, that the port is free and that the disk can be written")
	}
	if b.listens() && b.port == 0 {
		b.port = options.MQTT.Port
	}
	if err := b.prepare(ctx, s); err != nil {
		b.end()
		return protocol.Errorf(protocol.CodeUnavailable, op, "cannot clear MQTT state: %w", err)
	}
	b.gate.open.Store(true)
	return nil
}

func (b *Broker) listens() bool { return b.cfg.MQTTListen != "" }

// end ends the server of now and returns when its store is closed.
func (b *Broker) end() {
	b.gate.open.Store(false)
	s := b.server.Load()
	s.Shutdown()
	s.WaitForShutdown()
}

func (b *Broker) prepare(ctx context.Context, s *server.Server) error {
	nc, err := b.conn(ctx, nats.NoReconnect()) // the next server has records of its own
	if err != nil {
		return err
	}
	if err := resetMQTT(ctx, nc, b.listens()); err != nil || !b.listens() {
		nc.Close()
		return err
	}
	return watchKept(ctx, nc, kept{server: s, log: b.cfg.Logger, barred: b.gate.barred, refused: b.metrics.kept})
}

// InProcessConn is how connections within the process come to the server of now, also
// after it was started anew.
func (b *Broker) InProcessConn() (net.Conn, error) { return b.server.Load().InProcessConn() }

// Conn makes a connection within the process, with all rights. It connects again by
// itself when the server was started anew. It may be closed by its user and is closed
// by Close. Errors: unavailable, timeout if ctx ends.
func (b *Broker) Conn(ctx context.Context) (*nats.Conn, error) {
	return b.conn(ctx, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
}

func (b *Broker) conn(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
	const op = "broker.Conn"
	timeout := startTimeout
	if at, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(at))
	}
	if ctx.Err() != nil || timeout <= 0 {
		return nil, protocol.Errorf(protocol.CodeTimeout, op, "no time left to connect: %w", context.Cause(ctx))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "the broker is closed")
	}
	nc, err := nats.Connect("", append(options, nats.InProcessServer(b), nats.Token(b.gate.token), nats.Timeout(timeout), nats.Name(serverName))...)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "cannot connect within the process: %w", err)
	}
	open := b.conns[:0]
	for _, c := range b.conns {
		if !c.IsClosed() {
			open = append(open, c)
		}
	}
	b.conns = append(open, nc)
	return nc, nil
}

// Addr is the address of the MQTT listener, host:port. The host is as it was
// configured, so it may be empty or 0.0.0.0. Without a listener it is empty.
func (b *Broker) Addr() string {
	if !b.listens() {
		return ""
	}
	return net.JoinHostPort(b.host, strconv.Itoa(b.port))
}

// Close ends all connections and the server, and returns when its store is
// closed. A second call does nothing.
func (b *Broker) Close() {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.closed = true
	b.mu.Unlock()
	b.stop()
	<-b.watched
	for _, c := range b.conns {
		c.Close()
	}
	b.end()
	_ = b.lock.Close() // unlocks; the file stays
}
