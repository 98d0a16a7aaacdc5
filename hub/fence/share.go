package fence

import (
	"context"

	"rackboot/protocol/message"
)

// Site is the unit of what concerns several racks; that of a rack is rack/NAME.
const Site = "site"

// Units says which of several hubs on one store works what. It is safe for concurrent use.
type Units interface {
	// Owner is the fence under which a unit is worked; zero where nobody does.
	Owner(unit string) message.Fence
	// Works reports whether this hub works the unit now.
	Works(unit string) bool
	// Newest is Owner as the store says it, which this hub may not have seen yet.
	Newest(ctx context.Context, unit string) (message.Fence, error)
	// Of is the unit that an agent belongs to; one that is unknown is the site's.
	Of(agent string) string
	// Under has what is written with a context expect that this hub works the unit.
	Under(ctx context.Context, unit string) context.Context
}

// Share has the hub work only what units says, besides others; before it works. Without it the hub is alone on its
// store, and works everything.
func (b *Start) Share(units Units) { b.units = units }

// Shares reports whether other hubs may work on the same store.
func (b *Start) Shares() bool { return b.units != nil }

// Works reports whether this hub works a unit: it makes, sends and writes what follows for it.
func (b *Start) Works(unit string) bool {
	return !b.SteppedDown() && (b.units == nil || b.units.Works(unit))
}

// WorksFor reports whether this hub works the unit that an agent belongs to.
func (b *Start) WorksFor(agent string) bool {
	return !b.SteppedDown() && (b.units == nil || b.units.Works(b.units.Of(agent)))
}

// FenceFor is the fence under which this hub speaks with an agent.
func (b *Start) FenceFor(agent string) message.Fence {
	if b.units == nil {
		return b.number
	}
	return b.units.Owner(b.units.Of(agent))
}

// Under has what is written with a context expect that this hub works a unit.
func (b *Start) Under(ctx context.Context, unit string) context.Context {
	if b.units == nil {
		return ctx
	}
	return b.units.Under(ctx, unit)
}

// UnderFor is Under of the unit that an agent belongs to.
func (b *Start) UnderFor(ctx context.Context, agent string) context.Context {
	if b.units == nil {
		return ctx
	}
	return b.units.Under(ctx, b.units.Of(agent))
}

// Above takes a number for this start that is higher than another one, and than all that hubs on the store have had.
// The codes are those of the store.
func (b *Start) Above(ctx context.Context, than uint64) (message.Fence, error) {
	b.taking.Lock()
	defer b.taking.Unlock()
	if b.latest.Number > than {
		return b.latest, nil
	}
	if err := keep(ctx, b.meta, than); err != nil {
		return message.Fence{}, err
	}
	n, err := take(ctx, b.meta, b.number.Hub)
	if err == nil {
		b.latest = n
	}
	return n, err
}

// yieldsShared is Yields where hubs share a store: what is newer in the store's record of the unit is a handover; what is
// in no record is a hub on another store.
func (b *Start) yieldsShared(ctx context.Context, agent string, follows message.Fence) (foreign bool) {
	unit := b.units.Of(agent)
	own := b.units.Owner(unit)
	if follows.Number == 0 || !follows.Newer(own) && !follows.Rivals(own) || !b.Works(unit) {
		return false
	}
	newest, err := b.units.Newest(ctx, unit)
	if err != nil {
		b.log.Warn("it is not known who works a unit", "unit", unit, "agent", agent, "err", err)
		return false // it is heard again
	}
	return follows.Newer(newest) || follows.Rivals(newest)
}
