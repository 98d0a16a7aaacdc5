package groups

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/protocol/resource"
)

const (
	// groupPauseMin and groupPauseMax bound the pause before what failed of a group is
	// tried again; it doubles.
	groupPauseMin = 2 * time.Second
	groupPauseMax = time.Minute
)

// groupView is what one pass has found of a group, for people.
type groupView struct {
	enrolment resource.Enrolment
	counts    resource.GroupCounts
	skew      string
	limit     string                  // of the specification of user data
	rollout   *resource.RolloutStatus // nil without; not to be changed
}

// groupRetry is when a group that failed is looked at again.
type groupRetry struct {
	pause time.Duration
	at    time.Time
}

// groupBook keeps what was found of groups. The views are for everybody, the rest for
// reconcile alone.
type groupBook struct {
	// importing is held by an import and by a pass, so that none sees half a history.
	importing sync.Mutex

	mu    sync.Mutex
	views map[string]groupView // by name
	skew  resource.SkewMode

	stubs map[string]stubPage   // by UID of the group
	retry map[string]groupRetry // by UID of the group
	due   atomic.Int64          // when the next pass is to look at groups, in ns; 0 is never
}

func newGroupBook() *groupBook {
	return &groupBook{views: map[string]groupView{}, skew: resource.SkewNone, stubs: map[string]stubPage{}, retry: map[string]groupRetry{}}
}

// keep takes what a pass has found.
func (b *groupBook) keep(views map[string]groupView, mode resource.SkewMode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.views, b.skew = views, mode
}

func (b *groupBook) all() (map[string]groupView, resource.SkewMode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.views), b.skew
}

func (b *groupBook) of(name string) (groupView, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, ok := b.views[name]
	return v, ok
}

// tried plans when a group is looked at again: what failed heals without an event, and
// nothing is planned for what did not (in the first release elsewhere it stayed until
// something else happened).
func (b *groupBook) tried(uid string, failed bool, now time.Time) time.Time {
	if !failed {
		delete(b.retry, uid)
		return time.Time{}
	}
	r := b.retry[uid]
	if !now.Before(r.at) {
		r.pause = min(max(2*r.pause, groupPauseMin), groupPauseMax)
		r.at = now.Add(r.pause)
		b.retry[uid] = r
	}
	return r.at
}

// forget drops what is kept of groups that are gone.
func (b *groupBook) forget(groups map[string]bool) {
	maps.DeleteFunc(b.stubs, func(uid string, _ stubPage) bool { return !groups[uid] })
	maps.DeleteFunc(b.retry, func(uid string, _ groupRetry) bool { return !groups[uid] })
}

// Due makes a pass when a group is to be looked at again.
func (c *Room) Due(now time.Time) {
	if at := c.groups.due.Load(); at != 0 && now.UnixNano() >= at {
		c.groups.due.Store(0) // the pass plans the next one
		c.cfg.Wake.Site()
	}
}
