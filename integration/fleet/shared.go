package fleet

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// shared is what the agents share, so that each is small.
type shared struct {
	signer    *wire.Signer // of nobody; has the compressor
	counts    counts
	fate      atomic.Pointer[fate] // nil is that nothing goes wrong
	laid      laid
	verifiers map[string]*wire.Verifier // by key
	pools     map[string]*x509.CertPool // by PEM
}

func newShared() (*shared, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &shared{signer: wire.NewSigner(key), verifiers: map[string]*wire.Verifier{}, pools: map[string]*x509.CertPool{}}, nil
}

func (c *shared) verifier(key ed25519.PublicKey) *wire.Verifier {
	v := c.verifiers[string(key)]
	if v == nil {
		v = wire.NewVerifier(key)
		c.verifiers[string(key)] = v
	}
	return v
}

func (c *shared) pool(ca []byte) (*x509.CertPool, error) {
	if p := c.pools[string(ca)]; p != nil {
		return p, nil
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(ca) {
		return nil, protocol.Errorf(protocol.CodeInvalid, "connect", "the CA of the hub's broker is not a certificate")
	}
	c.pools[string(ca)] = p
	return p, nil
}

// counts are of all agents, since the start.
type counts struct {
	connects, sessions, reports, events, received, news, failures atomic.Int64
	first                                                         atomic.Pointer[error]
}

// fail counts what should not be; the first is told.
func (c *counts) fail(err error) {
	c.failures.Add(1)
	c.first.CompareAndSwap(nil, &err)
}

// laid are the moments at which holds that are measured came to their agents.
type laid struct {
	mu sync.Mutex
	at map[string]time.Time // nil while none is measured
}

// watch begins to keep what is noted.
func (l *laid) watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = map[string]time.Time{}
}

func (l *laid) note(hold string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at != nil && len(l.at) < 2*maxHolds {
		l.at[hold] = at
	}
}

// take is when a hold came, and forgets it; false if it has not.
func (l *laid) take(hold string) (at time.Time, came bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, came = l.at[hold]
	delete(l.at, hold)
	return at, came
}
