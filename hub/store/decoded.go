package store

import "sync"

// decoded keeps the last decoded ledger of each agent, whose stored form the mirror has no more then: the documents in it are
// most of what there is of an agent. Ledgers are never deleted, so there are as many as agents ever joined.
type decoded struct {
	mu      sync.RWMutex
	byAgent map[string]*Ledger
}

func newDecoded() *decoded { return &decoded{byAgent: map[string]*Ledger{}} }

// get is nil unless the very revision is there.
func (d *decoded) get(agent string, revision uint64) *Ledger {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if l := d.byAgent[agent]; l != nil && l.Revision == revision {
		return l
	}
	return nil
}

func (d *decoded) put(agent string, l *Ledger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if have := d.byAgent[agent]; have == nil || have.Revision < l.Revision {
		d.byAgent[agent] = l
	}
}
