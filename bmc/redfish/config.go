package redfish

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Defaults of Config. The slowest answers measured on vendors' own systems are
// 18 to 23 s, but for inventory collections; a system's own resource takes
// 0.1 to 0.6 s.
const (
	DefaultRequestTimeout   = 10 * time.Second
	DefaultInventoryTimeout = 30 * time.Second
	DefaultDeniedPause      = 5 * time.Minute
	DefaultStreamIdle       = 5 * time.Minute
)

// Config configures all drivers of one process. The zero value is usable.
type Config struct {
	// Logger may be nil.
	Logger *slog.Logger
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	// Sessions keeps sessions over a restart; nil keeps them in memory.
	Sessions SessionStore
	// RequestTimeout bounds one request and its answer; 0 is DefaultRequestTimeout.
	RequestTimeout time.Duration
	// InventoryTimeout is RequestTimeout for the parts of an inventory; 0 is
	// DefaultInventoryTimeout.
	InventoryTimeout time.Duration
	// DeniedPause is how long refused credentials are not tried again; 0 is
	// DefaultDeniedPause. Opening with other credentials is not affected.
	DeniedPause time.Duration
	// StreamIdle ends an event stream on which nothing came for so long, keep-alives
	// included; 0 is DefaultStreamIdle.
	StreamIdle time.Duration
	// Seen is told of each answer of 200 to a GET: path and body. nil is nobody. It is called with one BMC's
	// queue held, and must not keep the body.
	Seen func(uri string, body []byte)
	// DialContext replaces the network; nil is a net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// SessionStore keeps the sessions over a restart of the process, so that a BMC
// does not run out of them. What it stores is secret. It is called with one
// BMC's queue held: it must be quick, and safe for concurrent use.
type SessionStore interface {
	// Load returns what Save stored, or nil without an error.
	Load(key string) ([]byte, error)
	Save(key string, session []byte) error
	Delete(key string) error
}

// withDefaults returns the config with every field set but Registerer and Sessions.
func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		value *time.Duration
		or    time.Duration
	}{
		{&c.RequestTimeout, DefaultRequestTimeout},
		{&c.InventoryTimeout, DefaultInventoryTimeout},
		{&c.DeniedPause, DefaultDeniedPause},
		{&c.StreamIdle, DefaultStreamIdle},
	} {
		if *d.value == 0 {
			*d.value = d.or
		}
	}
	if c.DialContext == nil {
		c.DialContext = (&net.Dialer{}).DialContext
	}
	return c
}
