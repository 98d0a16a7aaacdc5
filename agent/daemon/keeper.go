package daemon

import (
	"sync"
	"time"

	"rackboot/state"
)

// keeper holds the agent's identity while it runs, on disk and in memory. It is safe
// for concurrent use.
type keeper struct {
	dataDir string
	clock   state.Clock
	crash   state.Crasher
	floor   *timeFloor

	mu sync.Mutex
	id identity
}

// now is the present identity; it must not be changed in place.
func (k *keeper) now() identity {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.id
}

// time is what certificates are judged at: the clock's, or the floor where that is
// later, so that a host without a battery can reach the hub that tells it the time.
func (k *keeper) time() time.Time {
	now, floor := k.clock(), k.floor.now()
	if _, leaf, err := k.now().pair(); err == nil && leaf.NotBefore.After(floor) {
		floor = leaf.NotBefore // a time of the hub's
	}
	if floor.After(now) {
		return floor
	}
	return now
}

// replace puts a new identity on disk, and then in the place of the present one.
func (k *keeper) replace(id identity) error {
	if err := id.save(k.dataDir, k.crash); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.id = id
	return nil
}
