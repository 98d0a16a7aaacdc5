package upgrades

import (
	"maps"
	"sync"

	"rackboot/protocol/resource"
)

// view is what the last turn has found of an upgrade.
type view struct {
	message string
	rollout *resource.RolloutStatus
}

// views are those of the last turn, by name.
type views struct {
	mu sync.Mutex
	by map[string]view
}

func (v *views) keep(by map[string]view) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.by = by
}

func (v *views) all() map[string]view {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.by)
}

// Decorate says what the last turn has found of an upgrade.
func (c *Room) Decorate(u *resource.AgentUpgrade) {
	u.Status.Conditions = c.conds.Of(u.Metadata.Name)
	if v, ok := c.views.all()[u.Metadata.Name]; ok {
		u.Status.Message = v.message
	}
}
