package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// CallTimeout is how long a call may take, with a death of the servers' leader in it: they elect another within 7 s or
// so (nats-server v2.15.2, three nodes).
const CallTimeout = 15 * time.Second

const (
	// away is how long no server may be reached before it is said.
	away          = 10 * time.Second
	dialTimeout   = 5 * time.Second
	reconnectWait = 250 * time.Millisecond
	// pingEvery is how often a silent server is asked; of two that it does not answer it is taken for gone.
	pingEvery = 5 * time.Second
)

// Cluster is a connection to NATS servers. It is safe for concurrent use.
type Cluster struct {
	conn *nats.Conn

	mu    sync.Mutex
	since time.Time // when the connection was lost; zero while there is one
	cause error
	line  net.Conn  // the newest
	moved time.Time // when it was last cut on purpose
}

// NewLost counts the connections that end while a hub runs.
func NewLost() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_hub_store_connections_lost_total", Help: "Connections to the NATS servers of the store that ended while the hub ran.",
	})
}

// Dial connects. lost counts. Errors: invalid for a file that is none, denied, unavailable.
func Dial(ctx context.Context, cfg Config, log *slog.Logger, lost prometheus.Counter) (*Cluster, error) {
	const op = "connect to the store"
	secure, err := cfg.tls()
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	options := []nats.Option{
		nats.Name("rackboot-hub"), nats.Timeout(dialTimeout), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.SetCustomDialer(dialer{c}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if c.lost(err) {
				lost.Inc()
				log.Warn("the connection to the store is lost", "err", err)
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			c.back()
			log.Info("connected to the store again", "server", conn.ConnectedServerName())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("the store's servers say", "err", err) }),
	}
	if secure != nil {
		options = append(options, nats.Secure(secure))
	}
	if cfg.Credentials != "" {
		options = append(options, nats.UserCredentials(cfg.Credentials))
	}
	if err := ctx.Err(); err != nil {
		return nil, protocol.Errorf(protocol.CodeTimeout, op, "%w", err)
	}
	c.conn, err = nats.Connect(strings.Join(cfg.URLs, ","), options...)
	if err != nil {
		code, hint := protocol.CodeUnavailable, "look whether the NATS servers run, and at store.nats of the hub's file"
		if errors.Is(err, nats.ErrAuthorization) {
			code, hint = protocol.CodeDenied, "look at store.nats.credentials or store.nats.certFile, and at the account's users"
		}
		return nil, protocol.Errorf(code, op, "the NATS servers at %s: %w", strings.Join(cfg.URLs, ", "), err).WithHint("%s", hint)
	}
	return c, nil
}

// Conn is the connection. Its user leaves it open.
func (c *Cluster) Conn() *nats.Conn { return c.conn }

// Healthy says why nothing can be written; nil if nothing is known against it, or not for long: calls wait meanwhile. It
// does not wait. The code is unavailable.
func (c *Cluster) Healthy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() || time.Since(c.since) < away && !errors.Is(c.cause, errClosed) {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, "use the hub's store", "no NATS server of the store is reached since %s: %w", c.since.UTC().Format(time.RFC3339), c.cause).
		WithHint("look at the NATS servers and the network to them; the hub connects again by itself")
}

// Close ends the connection.
func (c *Cluster) Close() {
	c.mu.Lock()
	c.cause = errClosed
	c.mu.Unlock()
	c.conn.Close()
}

var errClosed = errors.New("the connection was closed")

// lost notes that there is no connection, and reports whether nobody wanted that.
func (c *Cluster) lost(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.cause, errClosed) {
		return false
	}
	if err == nil {
		err = errors.New("the server closed it")
	}
	if c.since.IsZero() {
		c.since = time.Now()
	}
	c.cause = err
	return true
}

func (c *Cluster) back() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.cause = time.Time{}, nil
}
