package store

import (
	"iter"
	"math"
	"slices"
	"strings"

	"rackboot/hub/labels"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
)

const (
	// worth is how many times fewer there have to be than all for an index to be worth its way.
	worth = 4
	// mostInRacks bounds the resources that a selector means by labels of their racks: they are sorted for each question.
	mostInRacks = 5_000
)

// Narrowed are the names of a kind among which are all that a selector means.
type Narrowed struct {
	objs   *Objects
	bucket string
	part   labels.Part
	// inRacks are those whose racks have it, in the order of [natural.Compare].
	inRacks []string
}

// Narrow finds the names among which are all that a selector means, where labels of racks count for what is in them. ok is
// false where they are not much fewer than all, and where nothing says what has to be there: then one looks at all.
//
// The index of a kind is made when it is first asked for, as the roll of names is; see [After]. It is kept by the mirror.
func (objs *Objects) Narrow(kind resource.Kind, s resource.Selector) (n Narrowed, ok bool) {
	parts := labels.Parts(s)
	if len(parts) == 0 {
		return n, false
	}
	m := objs.core.mirror
	m.index(bucketOf(kind))
	m.index(bucketOf(resource.KindRack))
	m.mu.RLock()
	defer m.mu.RUnlock()
	n.objs, n.bucket = objs, bucketOf(kind)
	least := len(m.buckets[n.bucket])/worth + 1
	for _, p := range parts {
		count := m.labels[n.bucket].Count(p)
		if count >= least {
			continue
		}
		in, known := m.inRacks(kind, m.labels[bucketOf(resource.KindRack)].Lists(p), min(least-count, mostInRacks))
		if known && count+len(in) < least {
			n.part, n.inRacks, least, ok = p, in, count+len(in), true
		}
	}
	slices.SortFunc(n.inRacks, natural.Compare)
	return n, ok
}

// After returns at most n of them behind a name, in the order of [natural.Compare]; see [After]. Fewer are the last.
func (n Narrowed) After(name string, most int) (out []resource.Object) {
	m := n.objs.core.mirror
	for len(out) < most {
		m.mu.RLock()
		names := labels.After(append(m.labels[n.bucket].Lists(n.part), n.inRacks), name, most-len(out))
		for _, name := range names {
			// Those in racks may have gone since, and one that cannot be read is left out.
			if e := m.buckets[n.bucket][name]; e.alive() && e.obj != nil {
				out = append(out, e.obj)
			}
		}
		m.mu.RUnlock()
		if len(names) == 0 {
			break
		}
		name = names[len(names)-1]
	}
	return out
}

// All are all of them, sorted as [List] sorts.
func (n Narrowed) All() []resource.Object {
	out := n.After("", math.MaxInt)
	slices.SortFunc(out, func(a, b resource.Object) int {
		return strings.Compare(a.Head().Metadata.Name, b.Head().Metadata.Name)
	})
	return out
}

// index makes the index of a bucket, if there is none.
func (m *mirror) index(bucket string) {
	m.mu.RLock()
	_, made := m.labels[bucket]
	m.mu.RUnlock()
	if made {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, made := m.labels[bucket]; !made {
		if _, made := m.rolls[bucket]; !made {
			m.rolls[bucket] = rollOf(m.buckets[bucket]) // pages of the kind want it too
		}
		m.labels[bucket] = labels.Of(withLabels(m.rolls[bucket], m.buckets[bucket]))
	}
}

func withLabels(names roll, bucket map[string]*cached) iter.Seq2[string, map[string]string] {
	return func(yield func(string, map[string]string) bool) {
		for _, name := range names {
			if l := bucket[name].labels(); l != nil && !yield(name, l) {
				return
			}
		}
	}
}

// labels are those of a resource that is there.
func (e *cached) labels() map[string]string {
	if !e.alive() || e.obj == nil {
		return nil
	}
	return e.obj.Head().Metadata.Labels
}

// relabel notes in the index of a bucket, if there is one, that labels have changed. It needs m.mu.
func (m *mirror) relabel(bucket, name string, old, now *cached) {
	if x, made := m.labels[bucket]; made {
		x.Change(name, old.labels(), now.labels())
	}
}

// inRacks are the names of a kind's resources that are in racks; known is false where that would take a walk over them, or they
// are more than most. It needs m.mu.
func (m *mirror) inRacks(kind resource.Kind, racks [][]string, most int) (names []string, known bool) {
	bucket := bucketOf(kind)
	refer := m.indexes.named[byReference]
	add := func(in string, entries []*cached) {
		for _, e := range entries {
			if of, name := split(e.Key); of == in {
				names = append(names, name)
			}
		}
	}
	for _, list := range racks {
		for _, rack := range list {
			of := refer.find(refersTo(resource.KindRack, rack))
			switch kind { //nolint:exhaustive // all others are in no rack, or found below
			case resource.KindAgent, resource.KindSegment, resource.KindBMC:
				add(bucket, of)
			case resource.KindServer:
				for _, e := range of {
					if in, segment := split(e.Key); in == bucketOf(resource.KindSegment) {
						add(bucket, refer.find(refersTo(resource.KindSegment, segment)))
					}
				}
			case resource.KindClaim, resource.KindHold, resource.KindMaintenance, resource.KindBootConfiguration:
				return nil, false
			}
			if len(names) > most {
				return nil, false
			}
		}
	}
	return names, true
}
