package store

import (
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/heads"
)

// Head is a listed entry as checkpoints know it; false for one that they do not count: it is made anew
// from others, or means nothing without them.
func Head(e state.Entry) (heads.Key, bool) {
	if !Counted(e.Key) {
		return heads.Key{}, false
	}
	k := heads.Key{Name: e.Key, Revision: e.Revision, Sum: crc32.ChecksumIEEE(e.Value)}
	if bucket, _ := split(e.Key); bucket == bucketOf(resource.KindHold) {
		if obj, err := decode(resource.KindHold, e); err == nil {
			k.Note = holdNote(obj.(*resource.Hold))
		}
	}
	return k, true
}

// Counted reports whether checkpoints count a key.
func Counted(key string) bool {
	bucket, _ := split(key)
	return !aside(key) && !passing(bucket)
}

// KindOf is the resource that keys of a kind are of; false for those of the hub's own.
func KindOf(kind string) (resource.Kind, bool) {
	for _, k := range resource.Kinds() {
		if bucketOf(k) == kind {
			return k, true
		}
	}
	return "", false
}

// Heads says what the store has, as checkpoints do.
type Heads struct{ core *core }

// Taken is what has changed since the last time.
type Taken struct {
	// Sequence is the revision up to which all is in it.
	Sequence uint64
	Kinds    map[string]heads.Sum
	// There are the keys that are new or other, and Gone those that are no more. With All these are
	// all keys, and what is not there is gone.
	There []heads.Key
	Gone  []string
	All   bool
}

// Take says what has changed since it was asked last; with all what there is.
func (h Heads) Take(all bool) Taken {
	out := h.take(all)
	slices.SortFunc(out.There, func(a, b heads.Key) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (h Heads) take(all bool) Taken {
	m := h.core.mirror
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tally
	out := Taken{Sequence: m.watched, Kinds: maps.Clone(t.kinds), All: all || t.lost}
	if out.All {
		for bucket, b := range m.buckets {
			if passing(bucket) {
				continue
			}
			for _, e := range b {
				if !e.Deleted {
					out.There = append(out.There, headOf(e))
				}
			}
		}
	} else {
		for key := range t.changed {
			bucket, name := split(key)
			if e := m.buckets[bucket][name]; e != nil && !e.Deleted {
				out.There = append(out.There, headOf(e))
			} else {
				out.Gone = append(out.Gone, key)
			}
		}
	}
	t.lost, t.changed = false, map[string]bool{}
	return out
}

// Since has the next Take say what differs from what somebody has.
func (h Heads) Since(have map[string]heads.Key) {
	m := h.core.mirror
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tally
	t.lost, t.changed = false, map[string]bool{}
	for key, was := range have {
		bucket, name := split(key)
		if e := m.buckets[bucket][name]; e == nil || e.Deleted || headOf(e) != was {
			t.mark(key)
		}
	}
	for bucket, b := range m.buckets {
		if passing(bucket) {
			continue
		}
		for _, e := range b {
			if _, there := have[e.Key]; !there && !e.Deleted {
				t.mark(e.Key)
			}
		}
	}
}
