package redfish

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc"
	"rackboot/protocol"
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
	// DialContext replaces the network; nil is a net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dialer opens drivers. Drivers of systems behind the same BMC share its
// queues, its breaker and its session.
type Dialer struct {
	config  Config
	metrics *metrics

	mu       sync.Mutex
	hosts    map[string]*host
	accounts map[accountKey]*account
}

// New makes a Dialer. It fails if the metrics cannot be registered.
func New(config Config) (*Dialer, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		value *time.Duration
		or    time.Duration
	}{
		{&config.RequestTimeout, DefaultRequestTimeout},
		{&config.InventoryTimeout, DefaultInventoryTimeout},
		{&config.DeniedPause, DefaultDeniedPause},
		{&config.StreamIdle, DefaultStreamIdle},
	} {
		if *d.value == 0 {
			*d.value = d.or
		}
	}
	if config.DialContext == nil {
		config.DialContext = (&net.Dialer{}).DialContext
	}
	m := newMetrics()
	if config.Registerer != nil {
		for _, c := range m.collectors() {
			if err := config.Registerer.Register(c); err != nil {
				return nil, protocol.Errorf(protocol.CodeInternal, "redfish.new", "register metrics: %w", err)
			}
		}
	}
	return &Dialer{config: config, metrics: m, hosts: make(map[string]*host), accounts: make(map[accountKey]*account)}, nil
}

// Open is a bmc.Opener: it checks the target and makes its driver, without
// talking to the BMC. It fails with invalid.
func (d *Dialer) Open(target bmc.Target) (bmc.Driver, error) {
	base, err := parseAddress(target.Address)
	if err != nil {
		return nil, err
	}
	if err := checkURI(target.SystemURI); target.SystemURI != "" && err != nil {
		return nil, err
	}
	tlsConfig, err := tlsFor(base, target)
	if err != nil {
		return nil, err
	}
	l := &link{
		config:  d.config,
		base:    base,
		metrics: d.metrics,
		logger:  d.config.Logger.With("bmc", base.Host),
	}
	key := accountKey{base.String(), target.Fingerprint, string(target.CA), target.Credentials}
	d.mu.Lock()
	defer d.mu.Unlock()
	l.host = d.hosts[base.Host]
	if l.host == nil {
		l.host = d.newHost()
		d.hosts[base.Host] = l.host
	}
	l.account = d.accounts[key]
	if l.account == nil {
		l.account = newAccount(key, base, d.httpClient(tlsConfig))
		d.accounts[key] = l.account
	}
	l.host.users++
	l.account.users++
	return &driver{
		server:    target.Server,
		systemURI: target.SystemURI, givenURI: target.SystemURI,
		logger: d.config.Logger.With("server", target.Server, "bmc", base.Host),
		link:   l,
		leave:  sync.OnceFunc(func() { d.leave(l) }),
	}, nil
}

// leave drops what only this link used; the last one of an account logs out.
func (d *Dialer) leave(l *link) {
	d.mu.Lock()
	l.account.users--
	last := l.account.users == 0
	if last {
		delete(d.accounts, l.account.key)
	}
	d.mu.Unlock()
	if last {
		l.logout()
	}
	l.account.client.CloseIdleConnections()
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.host.users--; l.host.users == 0 {
		delete(d.hosts, l.base.Host)
	}
}
