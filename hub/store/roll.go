package store

import (
	"slices"

	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
)

// roll has the names of the live entries of a bucket, in the order of [natural.Compare]. It is made when
// the first page is asked for. From then on only a name that comes or goes changes it, which moves 16
// bytes for each name behind it; a new revision costs nothing.
type roll []string

// rollOf makes the roll of a bucket.
func rollOf(bucket map[string]*cached) roll {
	out := make(roll, 0, len(bucket))
	for name, e := range bucket {
		if !e.Deleted {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, natural.Compare)
	return out
}

// change takes a name in or out where it came or went.
func (r roll) change(name string, was, is bool) roll {
	if was == is {
		return r
	}
	at, there := slices.BinarySearchFunc(r, name, natural.Compare)
	switch {
	case is && !there:
		return slices.Insert(r, at, name)
	case was && there:
		return slices.Delete(r, at, at+1)
	}
	return r
}

// after returns at most n names behind a name, which need not be there any more.
func (r roll) after(name string, n int) roll {
	at, there := slices.BinarySearchFunc(r, name, natural.Compare)
	if there {
		at++
	}
	return r[at:min(at+n, len(r))]
}

// after returns at most n live entries of a bucket behind a name, in the order of the roll.
func (m *mirror) after(bucket, name string, n int) []*cached {
	m.mu.RLock()
	out, made := m.page(bucket, name, n)
	m.mu.RUnlock()
	if made {
		return out
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, made := m.rolls[bucket]; !made {
		m.rolls[bucket] = rollOf(m.buckets[bucket])
	}
	out, _ = m.page(bucket, name, n)
	return out
}

// page is after once there is a roll. It needs m.mu, and returns nothing that later changes.
func (m *mirror) page(bucket, name string, n int) (out []*cached, made bool) {
	r, made := m.rolls[bucket]
	for _, name := range r.after(name, n) {
		out = append(out, m.buckets[bucket][name])
	}
	return out, made
}

// enrol notes in the roll of a bucket, if there is one, that a name came or went. It needs m.mu.
func (m *mirror) enrol(bucket, name string, old, now *cached) {
	if r, made := m.rolls[bucket]; made {
		m.rolls[bucket] = r.change(name, old.alive(), now.alive())
	}
}

// alive reports whether there is an entry that is not deleted.
func (e *cached) alive() bool { return e != nil && !e.Deleted }

// After returns at most n resources of type T whose names are behind a name in the order of
// [natural.Compare], in that order; the empty name is before all. The name need not be there any more: it
// is a position. Fewer than n are the last. The resources are shared as those of [List] are. What it
// costs grows with n only, but for the first call of a kind, which sorts its names.
func After[T resource.Object](objs *Objects, name string, n int) []T {
	return after[T](objs, resource.KindOf[T](), name, n)
}

// AfterOf is [After] of a kind that is known by its name only.
func (objs *Objects) AfterOf(kind resource.Kind, name string, n int) []resource.Object {
	return after[resource.Object](objs, kind, name, n)
}

func after[T resource.Object](objs *Objects, kind resource.Kind, name string, n int) (out []T) {
	bucket := bucketOf(kind)
	for len(out) < n {
		entries := objs.core.mirror.after(bucket, name, n-len(out))
		if len(entries) == 0 {
			break
		}
		out = append(out, only[T](entries)...) // one that cannot be read is left out
		_, name = split(entries[len(entries)-1].Key)
	}
	return out
}

// Position is how far the hub has followed its store: what is read from now on has all that was written
// up to this revision.
func (objs *Objects) Position() uint64 { return objs.core.mirror.position() }
