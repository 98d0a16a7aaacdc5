package labels

import (
	"container/heap"
	"iter"
	"slices"

	"rackboot/protocol/natural"
)

// Index has names by their labels: 16 bytes a label, and what a list has grown ahead. Lists are in the order of
// [natural.Compare].
type Index struct {
	names map[string]map[string][]string // by key and value
}

// Of is an Index of names with their labels, each name once, in the order of [natural.Compare].
func Of(all iter.Seq2[string, map[string]string]) *Index {
	x := &Index{map[string]map[string][]string{}}
	for name, labels := range all {
		for key, value := range labels {
			of := x.of(key)
			of[value] = append(of[value], name)
		}
	}
	for _, of := range x.names {
		for value, list := range of {
			of[value] = slices.Clip(slices.Clone(list)) // it has grown ahead
		}
	}
	return x
}

// of are the names with a key by their values.
func (x *Index) of(key string) map[string][]string {
	of := x.names[key]
	if of == nil {
		of = map[string][]string{}
		x.names[key] = of
	}
	return of
}

// Change takes the labels of a name in place of those that it had. It costs a search for each label that changed, and
// moves 16 bytes for each name behind it.
func (x *Index) Change(name string, was, is map[string]string) {
	for key, value := range was {
		if now, there := is[key]; !there || now != value {
			x.drop(name, key, value)
		}
	}
	for key, value := range is {
		if had, there := was[key]; !there || had != value {
			x.put(name, key, value)
		}
	}
}

func (x *Index) put(name, key, value string) {
	of := x.of(key)
	if at, there := slices.BinarySearchFunc(of[value], name, natural.Compare); !there {
		of[value] = slices.Insert(of[value], at, name)
	}
}

func (x *Index) drop(name, key, value string) {
	of := x.names[key]
	at, there := slices.BinarySearchFunc(of[value], name, natural.Compare)
	if !there {
		return
	}
	if of[value] = slices.Delete(of[value], at, at+1); len(of[value]) == 0 {
		delete(of, value)
	}
	if len(of) == 0 {
		delete(x.names, key)
	}
}

// Lists are the names that have a part, in lists of which none has a name of another. They are the Index's own.
func (x *Index) Lists(p Part) (out [][]string) {
	of := x.names[p.Key]
	if p.Values == nil {
		for _, list := range of {
			out = append(out, list)
		}
		return out
	}
	for _, value := range p.Values {
		if list := of[value]; len(list) > 0 {
			out = append(out, list)
		}
	}
	return out
}

// Count is how many names have a part.
func (x *Index) Count(p Part) (n int) {
	for _, list := range x.Lists(p) {
		n += len(list)
	}
	return n
}

// After merges lists: at most n names behind a name, each once, in the order of [natural.Compare].
func After(lists [][]string, name string, n int) (out []string) {
	var h merge
	for _, list := range lists {
		at, there := slices.BinarySearchFunc(list, name, natural.Compare)
		if there {
			at++
		}
		if at < len(list) {
			h = append(h, list[at:])
		}
	}
	heap.Init(&h)
	for len(h) > 0 && len(out) < n {
		if next := h[0][0]; len(out) == 0 || out[len(out)-1] != next {
			out = append(out, next)
		}
		if h[0] = h[0][1:]; len(h[0]) == 0 {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return out
}

// merge is a heap of lists by their first names; none is empty.
type merge [][]string

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return natural.Compare(m[i][0], m[j][0]) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// Push implements heap.Interface.
func (m *merge) Push(x any) { *m = append(*m, x.([]string)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	*m = (*m)[:last]
	return x
}
