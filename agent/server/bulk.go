package server

import (
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol/decide"
)

// BulkStop is what bounds how many servers are forced off without an approval.
type BulkStop struct {
	Guarded bool // the agent knows a destructive key; otherwise nothing bounds it
	Most    int  // within Window; 0 does not bound it
	Window  time.Duration
}

// unnoted are the stops that took room of the bound and could not be recorded.
type unnoted struct {
	mu sync.Mutex
	at map[string]time.Time // by server, so that the rack bounds it
}

func (u *unnoted) note(server string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = map[string]time.Time{}
	}
	u.at[server] = at
}

func (u *unnoted) drop(server string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.at, server)
}

// others is how many other servers were stopped so within the window.
func (u *unnoted) others(server string, now time.Time, window time.Duration) (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, at := range u.at {
		if name != server && now.Sub(at).Abs() < window {
			n++
		}
	}
	return n
}

// bulk returns what bounds ForceOff of a server now.
func (u *unnoted) bulk(b BulkStop, v store.View, now time.Time) decide.Bulk {
	if !b.Guarded {
		return decide.Bulk{}
	}
	return decide.Bulk{Key: true, Bound: b.Most, Others: v.Forced(now, b.Window) + u.others(v.Record.Server, now, b.Window), Window: b.Window, Approval: v.Approval(now)}
}
