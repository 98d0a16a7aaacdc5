package packages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// users are who names a package: AgentUpgrades, and agents with an open order to run it.
func (r *Room) users(digest string) (upgrades, agents []string) {
	for _, u := range store.List[*resource.AgentUpgrade](r.cfg.Store.Objects) {
		if u.Spec.Package == digest || u.Status.Package == digest && u.Status.Rollout != nil && !u.Status.Rollout.Phase.Over() {
			upgrades = append(upgrades, u.Metadata.Name)
		}
	}
	for _, a := range store.Find(r.cfg.Store.Objects, store.AgentsOrdered, store.Any) {
		if a.Status.Order.Open() && a.Status.Order.Package == digest {
			agents = append(agents, a.Metadata.Name)
		}
	}
	slices.Sort(upgrades)
	slices.Sort(agents)
	return upgrades, agents
}

// Remove takes a package out of the book, and returns it as it was. Its programs go later, as uploaded files do that nobody
// needs. The codes are invalid, not_found, conflict (an AgentUpgrade or an open order names it), unavailable and timeout.
func (r *Room) Remove(ctx context.Context, digest, by string) (api.AgentPackage, error) {
	const op = "delete agent package"
	p, err := r.cfg.Store.AgentPackages.Get(digest)
	if err != nil {
		return api.AgentPackage{}, err
	}
	item, err := r.item(p)
	if err != nil {
		return item, err
	}
	var users []string
	if len(item.Upgrades) > 0 {
		users = append(users, "AgentUpgrade "+some(item.Upgrades))
	}
	if len(item.Agents) > 0 {
		users = append(users, "open orders to agents "+some(item.Agents))
	}
	if len(users) > 0 {
		return item, protocol.Errorf(protocol.CodeConflict, op, "package %s is named by %s", digest, strings.Join(users, " and ")).
			WithHint("delete the AgentUpgrade, or have it name another package; an open order ends by itself")
	}
	if err := r.cfg.Store.AgentPackages.Remove(ctx, p); err != nil {
		return item, err
	}
	r.cfg.Crash.At("hub.package.removed")
	r.cfg.Logger.Info("package of agents removed", "digest", digest, "version", item.Version, "by", by)
	r.cfg.Event(ctx, fmt.Sprintf("the package of agents %s, %s, was deleted by %s", item.Version, digest, by))
	return item, nil
}

// maxNamed bounds the names in an error.
const maxNamed = 10

func some(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}
