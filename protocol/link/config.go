package link

import (
	"context"
	"crypto/tls"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// Defaults and limits.
const (
	defaultMinBackoff    = time.Second
	defaultMaxBackoff    = 60 * time.Second
	defaultQueueMessages = 1024
	defaultQueueBytes    = 16 << 20

	// MaxPayload is the largest payload in bytes; protocol/wire keeps to it.
	MaxPayload = 128 << 10
	// maxPacket is the largest packet that is read: a payload with the longest
	// topic and the headers.
	maxPacket = MaxPayload + 64<<10 + 16

	keepAlive      = 30 * time.Second
	pingTimeout    = 10 * time.Second
	connectTimeout = 15 * time.Second // dial, TLS and CONNACK; and again for SUBACK
	writeTimeout   = 10 * time.Second
	ackTimeout     = 30 * time.Second       // for PUBACK
	userTimeout    = 30 * time.Second       // for the peer's kernel to take what was sent
	window         = 64                     // publishes in flight
	quiesce        = 250 * time.Millisecond // for DISCONNECT to leave
)

// Config says where to connect and what to do with messages.
type Config struct {
	// Broker is mqtts://host[:port], port 8883 by default, or mqtt://host[:port]
	// for a loopback address, port 1883 by default.
	Broker string
	// TLS is required for mqtts. It is cloned; its callbacks are called for each
	// connection, so that a certificate can be replaced without a restart.
	TLS *tls.Config
	// Next says anew for each connection where to dial and by which TLS configuration, in
	// place of Broker and TLS; nil for those. After a connection that was not made, the
	// next broker of the list is dialled, and after one that lived, the first.
	Next func() (brokers []string, conf *tls.Config)
	// Subscribe are the topic filters. The broker must grant all of them.
	Subscribe []string
	// OnConnect is called for each connection after all filters were granted. Its
	// ctx ends with the connection, and then it must return. May be nil.
	OnConnect func(ctx context.Context)
	// OnMessage is called from one goroutine in order of arrival. It owns payload.
	OnMessage func(topic string, payload []byte)
	// QoS is that of both directions: 0 or 1. The broker must grant it.
	QoS byte
	// MinBackoff and MaxBackoff bound the wait between connections: 1 s and 60 s
	// by default.
	MinBackoff, MaxBackoff time.Duration
	// FirstDelay bounds a random wait before the first connection, so that a
	// fleet that was powered on together does not arrive together. Default none.
	FirstDelay time.Duration
	// QueueMessages and QueueBytes bound what waits for OnMessage: 1024 messages
	// and 16 MiB by default.
	QueueMessages, QueueBytes int
	// Dial replaces the TCP dialler; TLS still runs on top for mqtts.
	Dial func(ctx context.Context) (net.Conn, error)
	// Logger is required.
	Logger *slog.Logger
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	// Rand returns a number in [0,1) for the jitter; math/rand by default.
	Rand func() float64
}

// endpoint is the parsed broker address.
type endpoint struct {
	address string // host:port
	host    string
	secure  bool
}

// CheckBroker says whether an address is one that a link may dial. Errors: invalid.
func CheckBroker(address string) error {
	_, err := parseBroker(address)
	return err
}

func invalid(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalid, "link.New", format, args...).
		WithHint("give mqtts://host:port with a client certificate, or mqtt:// on loopback")
}

func parseBroker(address string) (endpoint, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return endpoint{}, invalid("broker address is not mqtts://host:port")
	}
	e := endpoint{host: u.Hostname(), secure: u.Scheme == "mqtts"}
	port := u.Port()
	switch u.Scheme {
	case "mqtts":
		if port == "" {
			port = "8883"
		}
	case "mqtt":
		if port == "" {
			port = "1883"
		}
		if a, err := netip.ParseAddr(e.host); e.host != "localhost" && (err != nil || !a.IsLoopback()) {
			return endpoint{}, invalid("broker %s is not on loopback, mqtt:// would be unprotected", u.Host)
		}
	default:
		return endpoint{}, invalid("scheme %q of the broker address is not mqtts", u.Scheme)
	}
	e.address = net.JoinHostPort(e.host, port)
	return e, nil
}

func (c *Config) check() (endpoint, error) {
	e, err := parseBroker(c.Broker)
	if err != nil {
		return endpoint{}, err
	}
	if e.secure && c.TLS == nil && c.Next == nil {
		return endpoint{}, invalid("broker %s needs a TLS configuration", e.address)
	}
	if c.QoS > 1 {
		return endpoint{}, invalid("QoS %d is not 0 or 1", c.QoS)
	}
	if slices.Contains(c.Subscribe, "") {
		return endpoint{}, invalid("an empty topic filter")
	}
	if c.OnMessage == nil || c.Logger == nil {
		return endpoint{}, invalid("OnMessage and Logger are required")
	}
	setDefault(&c.MinBackoff, defaultMinBackoff)
	setDefault(&c.MaxBackoff, max(defaultMaxBackoff, c.MinBackoff))
	setDefault(&c.QueueMessages, defaultQueueMessages)
	setDefault(&c.QueueBytes, defaultQueueBytes)
	if c.MinBackoff < 0 || c.MaxBackoff < c.MinBackoff || c.FirstDelay < 0 || c.QueueMessages < 1 || c.QueueBytes < MaxPayload {
		return endpoint{}, invalid("a bound is negative, or the largest wait %s is below the smallest %s", c.MaxBackoff, c.MinBackoff)
	}
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	return e, nil
}

func setDefault[T ~int | ~int64](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}
