package store

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Inventory is what was last read of the systems behind a BMC. It has a key of its
// own: it is large, and few of those who read BMCs need it.
type Inventory struct {
	BMC     string               `json:"bmc"`
	UID     string               `json:"uid"` // of the BMC
	At      time.Time            `json:"at"`
	Systems []protocol.Inventory `json:"systems"`
	// Made are the systems, by URI, for which there is or was a Server. One that
	// somebody deleted is not made again.
	Made     []string `json:"made,omitempty"`
	Revision uint64   `json:"-"` // for compare-and-set; 0 creates
}

// MaxInventory bounds the stored form in bytes: the store's values are smaller
// than 256 KiB.
const MaxInventory = 240 << 10

// Size is the stored size in bytes.
func (v Inventory) Size() int {
	raw, err := json.Marshal(v)
	if err != nil {
		return MaxInventory + 1
	}
	return len(raw)
}

func inventoryKey(bmc string) string { return BesideInventory + "." + bmc }

// PeekInventory is the inventory of a BMC, for reading only; nil if there is none,
// or it is of another BMC of that name. It is decoded once for each revision.
func (s *Store) PeekInventory(bmc, uid string) *Inventory {
	e, ok := s.mirror.get(inventoryKey(bmc))
	if !ok {
		return nil
	}
	v := s.inventories.get(bmc, e.Revision)
	if v == nil {
		v = &Inventory{}
		if err := json.Unmarshal(e.Value, v); err != nil {
			s.logger.Error("stored inventory cannot be read", "key", e.Key, "err", err)
			v = &Inventory{} // it is read from the BMC again
		}
		v.Revision = e.Revision
		s.inventories.put(bmc, v)
	}
	if v.UID != uid {
		return nil
	}
	return v
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
		if b, there := s.shared(resource.KindBMC, name).(*resource.BMC); there && s.PeekInventory(name, b.Metadata.UID) != nil {
			continue
		}
		if err := s.remove(ctx, e.Key, e.Revision); err != nil {
			return stateError("remove inventory", err)
		}
		s.inventories.drop(name)
	}
	return nil
}

// inventories keeps the last decoded inventory of each BMC.
type inventories struct {
	mu    sync.RWMutex
	byBMC map[string]*Inventory
}

func newInventories() *inventories { return &inventories{byBMC: map[string]*Inventory{}} }

// get is nil unless the very revision is there.
func (d *inventories) get(bmc string, revision uint64) *Inventory {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if v := d.byBMC[bmc]; v != nil && v.Revision == revision {
		return v
	}
	return nil
}

func (d *inventories) put(bmc string, v *Inventory) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byBMC[bmc] = v
}

func (d *inventories) drop(bmc string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byBMC, bmc)
}
