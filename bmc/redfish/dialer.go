package redfish

import (
	"sync"

	"rackboot/bmc"
	"rackboot/bmc/conns"
	"rackboot/protocol"
)

// Dialer opens drivers. Drivers of systems behind the same BMC share its
// queues, its breaker and its session.
type Dialer struct {
	config  Config
	metrics *metrics
	pool    conns.Pool // of all its connections

	mu       sync.Mutex
	hosts    map[string]*host
	accounts map[accountKey]*account
}

// New makes a Dialer. It fails if the metrics cannot be registered.
func New(config Config) (*Dialer, error) {
	m := newMetrics()
	if config.Registerer != nil {
		for _, c := range m.collectors() {
			if err := config.Registerer.Register(c); err != nil {
				return nil, protocol.Errorf(protocol.CodeInternal, "redfish.new", "register metrics: %w", err)
			}
		}
	}
	return &Dialer{config: config.withDefaults(), metrics: m, hosts: make(map[string]*host), accounts: make(map[accountKey]*account)}, nil
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
	key := accountKey{base.String(), target.Fingerprint, string(target.CA), target.LegacyTLS, target.Credentials}
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.hosts[base.Host]
	if h == nil {
		h = newHost(d.metrics.waiting)
		d.hosts[base.Host] = h
	}
	a := d.accounts[key]
	if a == nil {
		a = newAccount(key, base, newHTTPClient(d.config, tlsConfig, &d.pool))
		d.accounts[key] = a
	}
	h.users++
	a.users++
	l := newLink(d.config, h, a, d.metrics)
	return newDriver(d.config, target, l, sync.OnceFunc(func() { d.leave(l) })), nil
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
