package store

import (
	"context"
	"encoding/json"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func inventoryKey(bmc string) string { return BesideInventory + "." + bmc }

// PeekInventoryHead is what is known of a BMC's inventory; false if there is none, or it is of another BMC of that name.
// It costs less than the inventory.
func PeekInventoryHead(s *Store, bmc, uid string) (h InventoryHead, ok bool) {
	e, ok := s.mirror.get(inventoryKey(bmc))
	if !ok {
		return h, false
	}
	h, known := s.inventories.head(bmc, e.Revision)
	if !known {
		v := s.inventories.of(bmc, e, s.logger)
		h = InventoryHead{UID: v.UID, At: v.At, Revision: v.Revision}
	}
	return h, h.UID == uid
}

// PeekInventory is the inventory of a BMC, for reading only; nil if there is none,
// or it is of another BMC of that name.
func (s *Store) PeekInventory(bmc, uid string) *Inventory {
	e, ok := s.mirror.get(inventoryKey(bmc))
	if !ok {
		return nil
	}
	if v := s.inventories.of(bmc, e, s.logger); v.UID == uid {
		return v
	}
	return nil
}

// PutInventory writes an inventory: compare-and-set on its revision, which it
// updates. At revision 0 it replaces that of another BMC of the name, if there is
// one. The codes are invalid, conflict, unavailable and timeout.
func (s *Store) PutInventory(ctx context.Context, v *Inventory) error {
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
	if e, ok := s.mirror.get(inventoryKey(v.BMC)); ok && revision == 0 && s.PeekInventory(v.BMC, v.UID) == nil {
		revision = e.Revision
	}
	if revision, err = s.put(ctx, inventoryKey(v.BMC), value, revision); err != nil {
		return stateError(op, err)
	}
	v.Revision = revision
	return nil
}

// SweepInventories removes those whose BMC is gone, also where there is another of its name. The codes are conflict,
// unavailable and timeout.
func (s *Store) SweepInventories(ctx context.Context) error {
	for _, e := range s.mirror.list(BesideInventory) {
		_, name := split(e.Key)
		if b, there := s.shared(resource.KindBMC, name).(*resource.BMC); there {
			if _, ok := PeekInventoryHead(s, name, b.Metadata.UID); ok {
				continue
			}
		}
		if err := s.remove(ctx, e.Key, e.Revision); err != nil {
			return stateError("remove inventory", err)
		}
		s.inventories.drop(name)
	}
	return nil
}
