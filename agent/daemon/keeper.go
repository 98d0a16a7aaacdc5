package daemon

import (
	"crypto/x509"
	"sync"
	"time"

	"rackboot/protocol/decide"
	"rackboot/state"
)

// keeper holds the agent's identity while it runs, on disk and in memory. It is safe
// for concurrent use.
type keeper struct {
	dataDir string
	clock   state.Clock
	crash   state.Crasher
	floor   *timeFloor

	mu  sync.Mutex
	id  identity
	way way
}

// way is how the link is dialled: with the time that is believed and the present certificate,
// and where that led nowhere dialsOfOne times, with each other time and certificate in turn.
type way struct {
	dials int // since the last connection
	turn  int
}

const dialsOfOne = 3

// now is the present identity; it must not be changed in place.
func (k *keeper) now() identity {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.id
}

// clocks is what to make of the clocks at this moment.
func (k *keeper) clocks() decide.ClockPlan { return k.floor.now(k.now().begin()) }

// time is what certificates are judged at.
func (k *keeper) time() time.Time { return k.clocks().Now }

// other is another time that may be right; if there is none, it is time.
func (k *keeper) other() time.Time {
	p := k.clocks()
	if p.Other.IsZero() {
		return p.Now
	}
	return p.Other
}

// dial is what the link is dialled with now: the identity with the certificate to show, and the
// clock to judge the broker's certificate by. Another time than the one that is believed makes
// nobody believed: all that comes by the link is signed by the hub's key, and a broker with a
// certificate that has ended can do no more than a stolen one.
func (k *keeper) dial() (identity, func() time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.way.dials++; k.way.dials > dialsOfOne {
		k.way.turn++
	}
	id, at := k.id, k.time
	ways := 2
	if id.Spare != nil {
		ways = 4
	}
	if k.way.turn%ways >= 2 {
		id = id.withSpare()
	}
	if k.way.turn%2 == 1 {
		at = k.other
	}
	return id, at
}

// dialled notes that the link is connected: it is dialled in the same way again.
func (k *keeper) dialled() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.way.dials = 0
}

// replace puts a new identity on disk, and then in the place of the present one.
func (k *keeper) replace(id identity) error {
	if err := id.save(k.dataDir, k.crash); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.id, k.way = id, way{}
	return nil
}

// settle takes the spare certificate into use once it is good, and drops one that has ended.
func (k *keeper) settle(plan decide.ClockPlan) error {
	id := k.now()
	if id.Spare == nil {
		return nil
	}
	_, present, err := id.pair()
	if err != nil {
		return err
	}
	spare := id.withSpare()
	_, leaf, err := spare.pair()
	switch {
	case err != nil:
		id.Spare = nil
		return k.replace(id) // what cannot be read is of no use
	case decide.NextCertificate(plan.Source, spanOf(plan.Now, present), spanOf(plan.Now, leaf)) == decide.UseSpare:
		if spanOf(plan.Now, leaf) == decide.SpanEnded {
			id.Spare = nil
			return k.replace(id)
		}
		return nil
	case present.NotAfter.After(leaf.NotAfter) && spanOf(plan.Now, present) == decide.SpanGood:
		id.Spare = nil // the present one was renewed since
		return k.replace(id)
	}
	spare.Spare = nil
	return k.replace(spare)
}

func spanOf(now time.Time, c *x509.Certificate) decide.CertificateSpan {
	return decide.SpanOf(now, c.NotBefore, c.NotAfter)
}
