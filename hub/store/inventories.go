package store

import (
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"rackboot/protocol"
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

// InventoryHead says which inventory of a BMC is stored.
type InventoryHead struct {
	UID      string // of the BMC
	At       time.Time
	Revision uint64
}

// maxDecoded bounds the inventories that stay decoded: those of the BMCs of 80 full racks.
const maxDecoded = 4096

// decodedInventories keeps the decoded inventories of some BMCs, and of all what they are.
type decodedInventories struct {
	mu      sync.RWMutex
	decoded map[string]*Inventory
	heads   map[string]InventoryHead
}

func newDecodedInventories() *decodedInventories {
	return &decodedInventories{decoded: map[string]*Inventory{}, heads: map[string]InventoryHead{}}
}

// of is what an entry has. The last ones that were asked for are decoded once for each
// revision.
func (d *decodedInventories) of(bmc string, e cached, logger *slog.Logger) *Inventory {
	if v := d.get(bmc, e.Revision); v != nil {
		return v
	}
	v := &Inventory{}
	if err := json.Unmarshal(e.Value, v); err != nil {
		logger.Error("stored inventory cannot be read", "key", e.Key, "err", err)
		v = &Inventory{} // it is read from the BMC again
	}
	v.Revision = e.Revision
	d.put(bmc, v)
	return v
}

// get is nil unless the very revision is there.
func (d *decodedInventories) get(bmc string, revision uint64) *Inventory {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if v := d.decoded[bmc]; v != nil && v.Revision == revision {
		return v
	}
	return nil
}

// head is false unless the very revision was decoded before.
func (d *decodedInventories) head(bmc string, revision uint64) (InventoryHead, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	h, there := d.heads[bmc]
	return h, there && h.Revision == revision
}

func (d *decodedInventories) put(bmc string, v *Inventory) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for other := range d.decoded {
		if len(d.decoded) < maxDecoded {
			break
		}
		delete(d.decoded, other) // any: who looks at all of them finds none of them twice
	}
	d.decoded[bmc] = v
	d.heads[bmc] = InventoryHead{UID: v.UID, At: v.At, Revision: v.Revision}
}

func (d *decodedInventories) drop(bmc string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.decoded, bmc)
	delete(d.heads, bmc)
}
