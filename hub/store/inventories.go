package store

import (
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"rackboot/hub/once"
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

const (
	// maxDecoded bounds the inventories that stay decoded: those of the BMCs of 80 full racks.
	maxDecoded = 4096
	// maxDecodedBytes bounds their stored form, which is some third of what they take: a BMC may say much.
	maxDecodedBytes = 8 << 20
)

// decodedInventories keeps the decoded inventories of some BMCs, and of all what is asked for again and again.
type decodedInventories struct {
	said *once.Table

	mu      sync.RWMutex
	decoded map[string]decodedInventory
	bytes   int // of their stored form
	notes   map[string]inventoryNote
}

type decodedInventory struct {
	*Inventory
	bytes int
}

// inventoryNote is what stays known of an inventory that is decoded no more.
type inventoryNote struct {
	InventoryHead
	systems []systemSafety
}

type systemSafety struct {
	uri string
	is  *protocol.Safety // which others share: BMCs of one model say the same
}

func newDecodedInventories(said *once.Table) *decodedInventories {
	return &decodedInventories{said: said, decoded: map[string]decodedInventory{}, notes: map[string]inventoryNote{}}
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
	d.put(bmc, decodedInventory{v, len(e.Value)})
	return v
}

// note is what is known of an entry; it is decoded where nothing is.
func (d *decodedInventories) note(bmc string, e cached, logger *slog.Logger) inventoryNote {
	d.mu.RLock()
	n, there := d.notes[bmc]
	d.mu.RUnlock()
	if there && n.Revision == e.Revision {
		return n
	}
	return d.noteOf(d.of(bmc, e, logger))
}

func (d *decodedInventories) noteOf(v *Inventory) inventoryNote {
	n := inventoryNote{InventoryHead: InventoryHead{UID: v.UID, At: v.At, Revision: v.Revision}}
	for _, s := range v.Systems {
		is := protocol.SafetyOf(s)
		d.said.Texts(&s.SystemURI)
		d.said.Texts(&is)
		one := systemSafety{s.SystemURI, &is}
		once.Value(d.said, &one.is)
		n.systems = append(n.systems, one)
	}
	return n
}

// get is nil unless the very revision is there.
func (d *decodedInventories) get(bmc string, revision uint64) *Inventory {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if v := d.decoded[bmc]; v.Inventory != nil && v.Revision == revision {
		return v.Inventory
	}
	return nil
}

func (d *decodedInventories) put(bmc string, v decodedInventory) {
	n := d.noteOf(v.Inventory)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.take(bmc)
	for other := range d.decoded {
		if len(d.decoded) < maxDecoded && d.bytes+v.bytes <= maxDecodedBytes {
			break
		}
		d.take(other) // any: who looks at all of them finds none of them twice
	}
	d.decoded[bmc] = v
	d.bytes += v.bytes
	d.notes[bmc] = n
}

// take takes one out of those that stay decoded; it needs d.mu.
func (d *decodedInventories) take(bmc string) {
	d.bytes -= d.decoded[bmc].bytes
	delete(d.decoded, bmc)
}

func (d *decodedInventories) drop(bmc string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.take(bmc)
	delete(d.notes, bmc)
}
