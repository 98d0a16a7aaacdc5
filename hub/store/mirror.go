package store

import (
	"slices"
	"sort"
	"sync"

	"rackboot/hub/labels"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// apply takes entries that were written at once: whoever reads sees all of them or none.
func (m *mirror) apply(entries ...cached) {
	m.atOnce(entries, func(e cached) bool { return !m.outlived(e) && m.set(e) })
}

// applyWatched is apply for what the watch brings.
func (m *mirror) applyWatched(entries ...cached) {
	m.atOnce(entries, func(e cached) bool {
		m.watched = max(m.watched, e.Revision)
		return m.set(e)
	})
}

// applyOwn is apply for a commit of this process, whose deletions are at the revision that they
// replace.
func (m *mirror) applyOwn(entries ...cached) {
	m.atOnce(entries, func(e cached) bool {
		if e.Deleted {
			return m.entomb(e.Key, e.Revision)
		}
		return !m.outlived(e) && m.set(e)
	})
}

// replace takes a list of everything, which was complete at revision: what is not in it and not newer is
// not there any more.
func (m *mirror) replace(entries []cached, revision uint64) {
	listed := make(map[string]bool, len(entries))
	for _, e := range entries {
		listed[e.Key] = true
	}
	m.mu.Lock()
	for _, b := range m.buckets {
		for _, e := range b {
			if !listed[e.Key] && e.Revision <= revision {
				entries = append(entries, cached{Entry: state.Entry{Key: e.Key, Revision: revision + 1, Deleted: true}})
			}
		}
	}
	changed := takeAll(entries, m.set)
	m.watched = max(m.watched, revision)
	m.stir()
	m.mu.Unlock()
	m.wake(changed...)
}

// outlived says whether the watch has come past an entry of our own, and its key is not there:
// somebody has deleted it before this process could note what it had written.
func (m *mirror) outlived(e cached) bool {
	bucket, name := split(e.Key)
	_, there := m.buckets[bucket][name]
	return !there && e.Revision <= m.watched
}

func (m *mirror) atOnce(entries []cached, take func(cached) bool) {
	m.mu.Lock()
	changed := takeAll(entries, take)
	m.mu.Unlock()
	m.wake(changed...)
}

// takeAll returns the buckets that have changed; it needs m.mu.
func takeAll(entries []cached, take func(cached) bool) (changed []string) {
	for _, e := range entries {
		if bucket, _ := split(e.Key); take(e) && !slices.Contains(changed, bucket) {
			changed = append(changed, bucket)
		}
	}
	return changed
}

func (m *mirror) set(e cached) bool {
	bucket, name := split(e.Key)
	b := m.buckets[bucket]
	if b == nil {
		b = map[string]*cached{}
		m.buckets[bucket] = b
	}
	old, now := b[name], &e
	switch {
	case old != nil && e.Revision <= old.Revision:
		return false
	case e.Deleted:
		delete(b, name)
		if old == nil || old.Deleted {
			return false
		}
	default:
		b[name] = now
	}
	m.changed(bucket, name, old, now)
	m.touched(bucket)
	m.touch(bucket, name, old, now)
	return true
}

// touched notes that a bucket has changed; it needs m.mu.
func (m *mirror) touched(bucket string) {
	delete(m.sorted, bucket)
	m.changes++
	m.stir()
}

// has says whether the entry, or a newer one of its key, is there.
func (m *mirror) has(key string, revision uint64) bool {
	bucket, name := split(key)
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.buckets[bucket][name]
	return ok && e.Revision >= revision
}

// lives says whether the key is there at the revision.
func (m *mirror) lives(key string, revision uint64) bool {
	e, ok := m.get(key)
	return ok && e.Revision == revision
}

// bury marks a key deleted that was deleted at revision by this process.
func (m *mirror) bury(key string, revision uint64) {
	m.applyOwn(cached{Entry: state.Entry{Key: key, Revision: revision, Deleted: true}})
}

// entomb is bury; it needs m.mu.
func (m *mirror) entomb(key string, revision uint64) bool {
	bucket, name := split(key)
	old := m.buckets[bucket][name]
	if old == nil || old.Revision > revision || old.Deleted {
		return false
	}
	m.changed(bucket, name, old, nil)
	m.buckets[bucket][name] = &cached{Entry: state.Entry{Key: key, Revision: revision, Deleted: true}}
	m.touched(bucket)
	m.touch(bucket, name, old, nil)
	return true
}

func (m *mirror) get(key string) (cached, bool) {
	bucket, name := split(key)
	m.mu.RLock()
	defer m.mu.RUnlock()
	if e := m.buckets[bucket][name]; e != nil {
		return *e, !e.Deleted
	}
	return cached{}, false
}

// bare leaves away the Value of what is no resource, at a revision: whoever decoded it has it now.
func (m *mirror) bare(key string, revision uint64) {
	bucket, name := split(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.buckets[bucket][name]
	if e == nil || e.Revision != revision || e.Deleted || e.Value == nil {
		return
	}
	own := *e // which others read
	own.sum, own.Value = headOf(e).Sum, nil
	m.buckets[bucket][name] = &own
	delete(m.sorted, bucket)
}

// object is what a resource decodes to; nil where it is not there, or cannot be read. It makes no key: passes over a fleet ask
// for each of its resources.
func (m *mirror) object(kind resource.Kind, name string) resource.Object {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if e := m.buckets[m.bucket[kind]][name]; e != nil && !e.Deleted {
		return e.obj
	}
	return nil
}

// list returns the live entries of a bucket in key order, for reading only. They are
// sorted once after each change of the bucket.
func (m *mirror) list(bucket string) []*cached {
	m.mu.RLock()
	out, ok := m.sorted[bucket]
	at := m.changes
	if !ok {
		out = make([]*cached, 0, len(m.buckets[bucket]))
		for _, e := range m.buckets[bucket] {
			if !e.Deleted {
				out = append(out, e)
			}
		}
	}
	m.mu.RUnlock()
	if ok {
		return out
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	m.mu.Lock()
	if m.changes == at {
		m.sorted[bucket] = out
	}
	m.mu.Unlock()
	return out
}

func (m *mirror) seen(revision uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = max(m.watched, revision)
	m.stir()
}

// moves is closed when anything has changed, or the watch has come further.
func (m *mirror) moves() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moved == nil {
		m.moved = make(chan struct{})
	}
	return m.moved
}

// stir wakes who waits for a move; it needs m.mu.
func (m *mirror) stir() {
	if m.moved != nil {
		close(m.moved)
		m.moved = nil
	}
}

func (m *mirror) position() uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.watched
}

func (m *mirror) subscribe() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	m.mu.Lock()
	m.subs[c] = true
	m.mu.Unlock()
	return c, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.subs, c)
	}
}

func (m *mirror) wake(changed ...string) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, bucket := range changed {
		if apart(bucket) {
			continue // nothing follows from what somebody was answered
		}
		for c := range m.subs {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
}

// mirror holds the newest known entry of each key. Own writes arrive twice, at
// once and through the watch, and may overtake what the watch still brings: an
// entry replaces another only if its revision is higher. A deletion of our own
// has no known revision, so a tombstone stays at the revision that was deleted
// until the watch brings the deletion or something newer.
type mirror struct {
	mu      sync.RWMutex
	buckets map[string]map[string]*cached // res.servers -> name -> entry, which nobody changes
	sorted  map[string][]*cached          // of a bucket in key order; absent after a change
	rolls   map[string]roll               // of the buckets of which pages were asked for
	labels  map[string]*labels.Index      // of the buckets of which labels were asked for
	indexes *indexes                      // of the live entries
	tally   *tally                        // of them too
	changes uint64                        // counts what was changed
	touches touches                       // for whom
	watched uint64                        // position of the watch
	moved   chan struct{}                 // closed at the next move; nil while nobody waits
	subs    map[chan struct{}]bool
	deltas  map[*Deltas]bool
	kinds   map[string]resource.Kind // by bucket
	bucket  map[resource.Kind]string
}

func newMirror() *mirror {
	m := &mirror{
		buckets: map[string]map[string]*cached{}, indexes: newIndexes(), tally: newTally(), sorted: map[string][]*cached{}, rolls: map[string]roll{}, labels: map[string]*labels.Index{}, subs: map[chan struct{}]bool{},
		deltas: map[*Deltas]bool{}, touches: touches{racks: map[string]uint64{}}, kinds: map[string]resource.Kind{}, bucket: map[resource.Kind]string{},
	}
	for _, k := range resource.Kinds() {
		m.kinds[bucketOf(k)], m.bucket[k] = k, bucketOf(k)
	}
	return m
}

// find returns the live entries that an index has of a term, in order of their keys.
func (m *mirror) find(name string, t term) []*cached {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Clone(m.indexes.named[name].find(t))
}
