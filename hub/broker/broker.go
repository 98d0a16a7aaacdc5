package broker

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"rackboot/protocol"
)

// Broker is a running server. It is safe for concurrent use.
type Broker struct {
	server *server.Server
	lock   *os.File
	token  string
	addr   string

	mu     sync.Mutex
	conns  []*nats.Conn
	closed bool
}

// Open starts the server; agents can connect when it returns. Errors: invalid
// for a bad configuration, unavailable if it cannot listen or open its store.
func Open(cfg Config) (*Broker, error) {
	const op = "broker.Open"
	host, port, err := cfg.check()
	if err != nil {
		return nil, err
	}
	refused := newRefused()
	g := &gate{hub: cfg.HubIdentity, token: rand.Text(), log: cfg.Logger, refused: refused.Inc, refuse: cfg.Refuse}
	options := cfg.options(host, port, g)
	held, err := lock(cfg.Dir)
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(options)
	if err != nil {
		_ = held.Close()
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "server configuration: %w", err)
	}
	log := &logger{log: cfg.Logger}
	s.SetLoggerV2(log, false, false, false)
	b := &Broker{server: s, lock: held, token: g.token}
	s.Start() // returns at once: it accepts in goroutines of its own
	if text := log.cause(); text != "" || !s.ReadyForConnections(startTimeout) {
		b.Close()
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "broker on %s with store %s did not start: %s", cfg.MQTTListen, cfg.Dir, text).
			WithHint("check that no other hub runs, that the port is free and that the disk can be written")
	}
	if cfg.MQTTListen != "" {
		b.addr = net.JoinHostPort(host, strconv.Itoa(options.MQTT.Port))
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := b.prepare(ctx, cfg.MQTTListen != ""); err != nil {
		b.Close()
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "cannot clear MQTT state: %w", err)
	}
	if err := register(cfg.Registerer, s, refused); err != nil {
		b.Close()
		return nil, protocol.Errorf(protocol.CodeInternal, op, "cannot register metrics: %w", err)
	}
	g.open.Store(true)
	return b, nil
}

func (b *Broker) prepare(ctx context.Context, listens bool) error {
	nc, err := b.Conn(ctx)
	if err != nil {
		return err
	}
	defer nc.Close()
	return resetMQTT(ctx, nc, listens)
}

// Conn makes a connection within the process, with all rights. It may be closed
// by its user and is closed by Close. Errors: unavailable, timeout if ctx ends.
func (b *Broker) Conn(ctx context.Context) (*nats.Conn, error) {
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
	nc, err := nats.Connect("", nats.InProcessServer(b.server), nats.Token(b.token), nats.Timeout(timeout),
		nats.Name(serverName), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
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
func (b *Broker) Addr() string { return b.addr }

// Close ends all connections and the server, and returns when its store is
// closed. A second call does nothing.
func (b *Broker) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	for _, c := range b.conns {
		c.Close()
	}
	b.server.Shutdown()
	b.server.WaitForShutdown()
	_ = b.lock.Close() // unlocks; the file stays
}
