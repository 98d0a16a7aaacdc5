package store

import (
	"context"
	"encoding/json"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func inventoryKey(bmc string) string { return BesideInventory + "." + bmc }

// Inventories keeps what was last read of the systems behind each BMC.
type Inventories struct {
	core    *core
	decoded *decodedInventories
}

func newInventories(c *core) *Inventories {
	return &Inventories{c, newDecodedInventories(c.said)}
}

// PeekHead is what is known of a BMC's inventory; false if there is none, or it is of another BMC of that name.
// It costs less than the inventory.
func (vs *Inventories) PeekHead(bmc, uid string) (h InventoryHead, ok bool) {
	e, ok := vs.core.mirror.get(inventoryKey(bmc))
	if !ok {
		return h, false
	}
	h = vs.decoded.note(bmc, e, vs.core.logger).InventoryHead
	return h, h.UID == uid
}

// Safety is what a BMC's inventory says of the safety of a system, by its URI as [Inventory.System] takes it, for reading
// only; nil if there is none, or it is of another BMC of that name. It costs less than the inventory.
func (vs *Inventories) Safety(bmc, uid, uri string) *protocol.Safety {
	e, ok := vs.core.mirror.get(inventoryKey(bmc))
	if !ok {
		return nil
	}
	n := vs.decoded.note(bmc, e, vs.core.logger)
	if n.UID != uid {
		return nil
	}
	for _, s := range n.systems {
		if s.uri == uri || uri == "" && len(n.systems) == 1 {
			return s.is
		}
	}
	return nil
}

// Peek is the inventory of a BMC, for reading only; nil if there is none,
// or it is of another BMC of that name.
func (vs *Inventories) Peek(bmc, uid string) *Inventory {
	e, ok := vs.core.mirror.get(inventoryKey(bmc))
	if !ok {
		return nil
	}
	if v := vs.decoded.of(bmc, e, vs.core.logger); v.UID == uid {
		return v
	}
	return nil
}

// Put writes an inventory: compare-and-set on its revision, which it
// updates. At revision 0 it replaces that of another BMC of the name, if there is
// one. The codes are invalid, conflict, unavailable and timeout.
func (vs *Inventories) Put(ctx context.Context, v *Inventory) error {
	const op = "put inventory"
	value, err := json.Marshal(v)
	switch {
	case err != nil:
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	case !validToken(v.BMC) || v.UID == "":
		return protocol.Errorf(protocol.CodeInvalid, op, "%q with uid %q is not a BMC", v.BMC, v.UID)
	case len(value) > MaxInventory:
		return protocol.Errorf(protocol.CodeInvalid, op, "it has %d bytes, more than %d", len(value), MaxInventory)
	}
	revision := v.Revision
	if e, ok := vs.core.mirror.get(inventoryKey(v.BMC)); ok && revision == 0 && vs.Peek(v.BMC, v.UID) == nil {
		revision = e.Revision
	}
	if revision, err = vs.core.put(ctx, inventoryKey(v.BMC), value, revision); err != nil {
		return stateError(op, err)
	}
	v.Revision = revision
	return nil
}

// Sweep removes those whose BMC is gone, also where there is another of its name. The codes are conflict,
// unavailable and timeout.
func (vs *Inventories) Sweep(ctx context.Context) error {
	for _, e := range vs.core.mirror.list(BesideInventory) {
		_, name := split(e.Key)
		if b, there := vs.core.shared(resource.KindBMC, name).(*resource.BMC); there {
			if _, ok := vs.PeekHead(name, b.Metadata.UID); ok {
				continue
			}
		}
		if err := vs.core.remove(ctx, e.Key, e.Revision); err != nil {
			return stateError("remove inventory", err)
		}
		vs.decoded.drop(name)
	}
	return nil
}
