package control

import (
	"rackboot/hub/store"
	"rackboot/protocol"
)

// fallbackAfter is after how many failed boots the agent of a claim's server returns to
// what it booted before, as the claim's group says; 0 is never.
func (c *Control) fallbackAfter(cl *protocol.Claim) int {
	if cl.Spec.ImageFrom == nil || cl.Spec.BootPolicy.Boot != protocol.BootNetwork {
		return 0
	}
	g, err := store.Peek[*protocol.ServerGroup](c.cfg.Store, cl.Spec.ImageFrom.Group)
	if err != nil {
		return 0
	}
	return g.Spec.Rollout.FallbackAfter
}
