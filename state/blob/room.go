package blob

import (
	"container/list"
	"time"
)

// room is what is there of blobs, which of them may not go, and how much room all take.
// It is guarded by the lock of its Store.
type room struct {
	block    int64             // of Config
	blobs    map[string]*entry // by hex name
	pins     map[string]int    // how often each name is pinned, there or not
	recent   list.List         // of *entry, the last used first
	used     int64             // room of blobs, in bytes
	reserved int64             // bytes of writes in progress
	parts    map[string]int64  // bytes on disk of blobs that are not complete
	parted   int64             // their sum
	growing  map[string]int64  // whole size of the parts that are open
}

type entry struct {
	name    string
	size    int64
	hashed  bool          // since the start
	touched time.Time     // when the time of last use was put on disk
	at      *list.Element // of room.recent
}

func newRoom(block int64) room {
	return room{block: block, blobs: map[string]*entry{}, pins: map[string]int{}, parts: map[string]int64{}, growing: map[string]int64{}}
}

// add enters a blob as the most recently used. The lock is held, or not needed.
func (r *room) add(name string, size int64) {
	r.forget(name) // two may have written the same
	e := &entry{name: name, size: size}
	e.at = r.recent.PushFront(e)
	r.blobs[name] = e
	r.used += r.cost(size)
}

func (r *room) forget(name string) {
	if e := r.blobs[name]; e != nil {
		r.used -= r.cost(e.size)
		r.recent.Remove(e.at)
		delete(r.blobs, name)
	}
}

// unpin undoes one pin of a name that has one.
func (r *room) unpin(name string) {
	if r.pins[name]--; r.pins[name] == 0 {
		delete(r.pins, name)
	}
}

// cost is the room that a blob takes, in bytes.
func (r *room) cost(size int64) int64 {
	if r.block == 0 {
		return size
	}
	return (size+r.block-1)/r.block*r.block + r.block
}

// victims are the blobs that were used least recently and are not pinned, as many as have
// so many bytes together, or all; and how many bytes they have.
func (r *room) victims(lacking int64) (names []string, gain int64) {
	for at := r.recent.Back(); at != nil && gain < lacking; at = at.Prev() {
		if e := at.Value.(*entry); r.pins[e.name] == 0 {
			gain += r.cost(e.size)
			names = append(names, e.name)
		}
	}
	return names, gain
}

// forgetPart needs the lock of the Store.
func (r *room) forgetPart(name string) {
	r.parted -= r.parts[name]
	delete(r.parts, name)
}
