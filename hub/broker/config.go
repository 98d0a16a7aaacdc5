package broker

import (
	"crypto/tls"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// Limits of the server.
const (
	// MaxPayload is the largest message and the largest stored value, in bytes.
	MaxPayload = 256 << 10

	defaultMaxConnections = 20_000
	defaultMaxStore       = 16 << 30         // bytes on disk
	maxSubscriptions      = 256              // per connection
	maxPending            = 64 << 20         // bytes that wait for one connection; a fleet reports at once after a restart
	authTimeout           = 10 * time.Second // for TLS, and again for CONNECT
	writeDeadline         = 10 * time.Second // for a connection to take what waits for it
	startTimeout          = 10 * time.Second
	maxPerName            = 4                // MQTT connections of one certificate
	keptPause             = time.Minute      // without a connection after a session that was to be kept
	lookPause             = time.Second      // between two looks at the store
	maxReopenPause        = 30 * time.Second // between two attempts to open it again
	serverName            = "rackboot-hub"
)

// Config says where the broker listens and keeps its store.
type Config struct {
	// Dir holds the store; it is made and locked. The hub may keep nothing else in
	// it.
	Dir string
	// MQTTListen is host:port; port 0 takes a free one. Empty is no MQTT at all: the
	// store only, where agents have another broker.
	MQTTListen string
	// TLS must require and verify client certificates.
	TLS *tls.Config
	// Refuse says whether an agent is to be refused, and may be nil. It is called for
	// each new connection, at once with others, and must not wait. See [Broker.Cut].
	Refuse func(agent string) bool
	// HubIdentity is the common name of the hub's own certificate. It must not be
	// a valid agent id.
	HubIdentity string
	// MaxConnections bounds all connections; 20,000 by default.
	MaxConnections int
	// MaxStore bounds the store in bytes; 16 GiB by default.
	MaxStore int64
	// Logger is required.
	Logger *slog.Logger
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer

	limits limits // other ones, in tests
}

// limits are those of a connection that does not behave.
type limits struct {
	pending int64 // bytes
	write   time.Duration
	tls     time.Duration // for the handshake
	auth    time.Duration // for CONNECT, after it
	look    time.Duration // between two looks at the store; 0 is lookPause
}

func (c *Config) check() (host string, port int, err error) {
	const op = "broker.Open"
	invalid := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, op, format, args...)
	}
	if c.Dir == "" || c.Logger == nil {
		return "", 0, invalid("Dir and Logger are required")
	}
	if c.limits == (limits{}) {
		c.limits = limits{pending: maxPending, write: writeDeadline, tls: authTimeout, auth: authTimeout}
	}
	if c.limits.look == 0 {
		c.limits.look = lookPause
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = defaultMaxConnections
	}
	if c.MaxStore == 0 {
		c.MaxStore = defaultMaxStore
	}
	if c.MQTTListen == "" {
		return "", 0, nil
	}
	host, text, err := net.SplitHostPort(c.MQTTListen)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	switch {
	case err != nil || port < 0 || port > 65535:
		return "", 0, invalid("listen address %q is not host:port", c.MQTTListen)
	case c.TLS == nil || c.TLS.ClientAuth != tls.RequireAndVerifyClientCert || c.TLS.ClientCAs == nil || c.TLS.MinVersion < tls.VersionTLS13:
		return "", 0, invalid("the TLS configuration does not require TLS 1.3 and a verified client certificate")
	case c.HubIdentity == "" || protocol.ValidName(c.HubIdentity):
		return "", 0, invalid("hub identity %q could be the id of an agent", c.HubIdentity)
	}
	return host, port, nil
}

func (c *Config) options(host string, port int, auth server.Authentication) *server.Options {
	o := &server.Options{
		ServerName:                 serverName,
		DontListen:                 true,
		NoSigs:                     true,
		DisableJetStreamBanner:     true,
		JetStream:                  true,
		StoreDir:                   c.Dir,
		SyncAlways:                 true,
		JetStreamMaxStore:          c.MaxStore + reserve,
		JetStreamMaxMemory:         maxMemory,
		JetStreamLimits:            server.JSLimitOpts{DefaultMaxConsumers: -1},
		CustomClientAuthentication: auth,
		AuthTimeout:                c.limits.auth.Seconds(),
		MaxConn:                    c.MaxConnections,
		MaxSubs:                    maxSubscriptions,
		MaxPayload:                 MaxPayload,
		MaxPending:                 c.limits.pending,
		WriteDeadline:              c.limits.write,
	}
	if c.MQTTListen == "" {
		return o
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o.MQTT = server.MQTTOpts{
		Host:        host,
		Port:        port,
		TLSConfig:   c.TLS,
		TLSTimeout:  c.limits.tls.Seconds(),
		AuthTimeout: c.limits.auth.Seconds(),
	}
	return o
}
