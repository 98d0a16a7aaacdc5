package plan

import (
	"slices"

	"rackboot/protocol/message"
)

// upgradeIntent is the order to an agent to run another release: its own, while it is open.
func upgradeIntent(f Fleet, agent string) *message.UpgradeIntent {
	a := f.index.agents[agent]
	if a == nil || !a.Status.Order.Open() || !slices.Contains(f.Peers[agent].Capabilities, message.CapUpgrade) {
		return nil
	}
	o := a.Status.Order
	manifest := f.Made.Packages[o.Package]
	if len(manifest) == 0 {
		return nil
	}
	return &message.UpgradeIntent{Order: o.ID, Manifest: manifest, NotAfter: o.NotAfter}
}
