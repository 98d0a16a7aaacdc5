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
// 18 s (Dell), but for inventory collections; a system's own resource takes
// 0.1 to 0.6 s.
const (
	DefaultRequestTimeout = 10 * time.Second
	DefaultDeniedPause    = 5 * time.Minute
	// maxWaiting bounds the calls that wait for one BMC.
	maxWaiting = 16
)

// Config configures all drivers of one process. The zero value is usable.
type Config struct {
	// Logger may be nil.
	Logger *slog.Logger
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	// RequestTimeout bounds one request and its answer; 0 is DefaultRequestTimeout.
	RequestTimeout time.Duration
	// DeniedPause is how long refused credentials are not tried again; 0 is
	// DefaultDeniedPause. Opening with other credentials is not affected.
	DeniedPause time.Duration
	// DialContext replaces the network; nil is a net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dialer opens drivers. Drivers of systems behind the same BMC share its queue.
type Dialer struct {
	config  Config
	metrics *metrics

	mu    sync.Mutex
	lanes map[string]*lane
}

// New makes a Dialer. It fails if the metrics cannot be registered.
func New(config Config) (*Dialer, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.RequestTimeout == 0 {
		config.RequestTimeout = DefaultRequestTimeout
	}
	if config.DeniedPause == 0 {
		config.DeniedPause = DefaultDeniedPause
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
	return &Dialer{config: config, metrics: m, lanes: make(map[string]*lane)}, nil
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
	return &driver{
		server:    target.Server,
		systemURI: target.SystemURI,
		logger:    d.config.Logger.With("server", target.Server, "bmc", base.Host),
		link: &link{
			base:        base,
			credentials: target.Credentials,
			client:      d.httpClient(tlsConfig),
			timeout:     d.config.RequestTimeout,
			deniedPause: d.config.DeniedPause,
			lane:        d.enter(base.Host),
			metrics:     d.metrics,
			logger:      d.config.Logger.With("bmc", base.Host),
		},
		leave: sync.OnceFunc(func() { d.leave(base.Host) }),
	}, nil
}

func (d *Dialer) enter(host string) *lane {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, ok := d.lanes[host]
	if !ok {
		l = newLane(d.metrics.waiting)
		d.lanes[host] = l
	}
	l.users++
	return l
}

func (d *Dialer) leave(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lanes[host]
	if l.users--; l.users == 0 {
		delete(d.lanes, host)
	}
}
