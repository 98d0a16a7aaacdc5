package store

import (
	"hash/crc32"

	"rackboot/protocol/resource"
	"rackboot/state/heads"
)

// maxChanged bounds the keys whose change nobody has taken yet. Whoever comes later is told that it is
// all of them.
const maxChanged = 100_000

// tally keeps what checkpoints say of a mirror. It changes with it, under its lock.
type tally struct {
	kinds   map[string]heads.Sum
	changed map[string]bool
	lost    bool // more has changed than changed says
}

func newTally() *tally {
	return &tally{kinds: map[string]heads.Sum{}, changed: map[string]bool{}}
}

// change takes one entry's place by another of the same key.
func (t *tally) change(bucket string, old, now *cached) {
	if passing(bucket) {
		return
	}
	s := t.kinds[bucket]
	if old != nil && !old.Deleted {
		s.Take(headOf(old))
		t.mark(old.Key)
	}
	if now != nil && !now.Deleted {
		s.Add(headOf(now))
		t.mark(now.Key)
	}
	if s.Count == 0 {
		delete(t.kinds, bucket)
		return
	}
	t.kinds[bucket] = s
}

func (t *tally) mark(key string) {
	if len(t.changed) >= maxChanged {
		t.lost, t.changed = true, map[string]bool{}
	}
	if !t.lost {
		t.changed[key] = true
	}
}

// headOf is an entry as checkpoints know it.
func headOf(e *cached) heads.Key {
	k := heads.Key{Name: e.Key, Revision: e.Revision, Sum: e.sum}
	if e.Value != nil {
		k.Sum = crc32.ChecksumIEEE(e.Value)
	}
	if h, ok := e.obj.(*resource.Hold); ok {
		k.Note = holdNote(h)
	}
	return k
}

// holdNote says of a hold what its owner needs to find it again.
func holdNote(h *resource.Hold) string {
	return "server " + h.Spec.Server + ", key " + h.Spec.Key + ", owner " + h.Spec.Owner
}
