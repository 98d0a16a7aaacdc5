package iso

import (
	"container/list"
	"sync"
)

const (
	// maxCached bounds the folders that are kept, in bytes; the last one is kept in any
	// case, so that its files are found.
	maxCached = 4 << 20
	// nodeCost is the memory of a node besides its name.
	nodeCost = 144
)

// folders keeps the folders that were read last. It is safe for concurrent use.
type folders struct {
	reading sync.Mutex // held while a folder is read: one at a time takes memory

	mu    sync.Mutex
	at    map[uint32]*list.Element
	order list.List // of *kept, the last used first
	cost  int
}

type kept struct {
	at     uint32
	folder *folder
}

// get is a folder that is kept, or nil.
func (c *folders) get(at uint32) *folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[at]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*kept).folder
}

// put keeps a folder, and gives up those that were not used for longest.
func (c *folders) put(at uint32, d *folder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[uint32]*list.Element)
	}
	c.at[at] = c.order.PushFront(&kept{at, d})
	for c.cost += d.cost + nodeCost; c.cost > maxCached && c.order.Len() > 1; {
		old := c.order.Remove(c.order.Back()).(*kept)
		delete(c.at, old.at)
		c.cost -= old.folder.cost + nodeCost
	}
}

// folder is a folder of the volume, read or kept.
func (f *FS) folder(n node) (*folder, error) {
	if d := f.cache.get(n.first.at); d != nil {
		return d, nil
	}
	f.cache.reading.Lock()
	defer f.cache.reading.Unlock()
	if d := f.cache.get(n.first.at); d != nil {
		return d, nil
	}
	d, err := f.volume.readFolder(n)
	if err != nil {
		return nil, err
	}
	f.cache.put(n.first.at, d)
	return d, nil
}
