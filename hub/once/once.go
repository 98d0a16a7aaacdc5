package once

import (
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

const (
	// texts and values are how many of each are remembered. What comes to the place of another takes it: what is said
	// often is there again at the next time, and what is said once is forgotten soon. So there is nothing to clean up,
	// and a Table never has more than this.
	texts, values = 1 << 13, 1 << 11
	// maxText bounds a text that is remembered, in bytes.
	maxText = 512
)

// Table is what was said last. It is safe for concurrent use. The zero value is not ready; see [New].
type Table struct {
	seed maphash.Seed

	mu     sync.Mutex
	texts  []string
	values []any
	ways   map[reflect.Type]*way
}

// New returns an empty Table.
func New() *Table {
	return &Table{seed: maphash.MakeSeed(), texts: make([]string, texts), values: make([]any, values), ways: map[reflect.Type]*way{}}
}

// Texts takes the place of each text in what v points to, and in what that has, by the same text as it was said before. What is
// in interfaces and maps stays as it is, and so does what other packages do not see. Nobody else may use v yet.
func (t *Table) Texts(v any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := reflect.ValueOf(v)
	t.walk(of, t.wayOf(of.Type()))
}

// way is where in a type there are texts that can be changed; nil where there are none.
type way struct {
	kind   reflect.Kind
	elem   *way   // of a pointer, slice or array
	fields []step // of a struct, those that have some
}

type step struct {
	index int
	*way
}

func (t *Table) walk(v reflect.Value, w *way) {
	if w == nil {
		return
	}
	switch w.kind { //nolint:exhaustive // no other has a way
	case reflect.String:
		if s := v.String(); s != "" && len(s) <= maxText && v.CanSet() {
			if same := t.text(s); unsafe.StringData(same) != unsafe.StringData(s) {
				v.SetString(same)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			t.walk(v.Elem(), w.elem)
		}
	case reflect.Struct:
		for _, f := range w.fields {
			t.walk(v.Field(f.index), f.way)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			t.walk(v.Index(i), w.elem)
		}
	}
}

func (t *Table) text(s string) string {
	at := &t.texts[maphash.String(t.seed, s)%texts]
	if *at != s {
		*at = s
	}
	return *at
}

// wayOf finds the way of a type, once.
func (t *Table) wayOf(of reflect.Type) *way {
	if known, there := t.ways[of]; there {
		return known
	}
	w := &way{kind: of.Kind()}
	t.ways[of] = w // for what a type has of itself
	has := false
	switch w.kind { //nolint:exhaustive // what is in no case has none
	case reflect.String:
		has = true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		w.elem = t.wayOf(of.Elem())
		has = w.elem != nil
	case reflect.Struct:
		for i := range of.NumField() {
			if f := of.Field(i); f.IsExported() {
				if to := t.wayOf(f.Type); to != nil {
					w.fields = append(w.fields, step{i, to})
				}
			}
		}
		has = len(w.fields) > 0
	}
	if !has {
		w = nil
	}
	t.ways[of] = w
	return w
}

// Map takes a map's place by an equal one that came before. From then on nobody may change it.
func Map[V comparable](t *Table, m *map[string]V) {
	if len(*m) == 0 {
		return
	}
	var hash uint64
	for k, v := range *m {
		hash += maphash.Comparable(t.seed, entry[V]{k, v})
	}
	*m = alike(t, hash, *m, maps.Equal[map[string]V])
}

type entry[V comparable] struct {
	key   string
	value V
}

// List is [Map] of a slice.
func List[T comparable](t *Table, list *[]T) {
	if len(*list) == 0 {
		return
	}
	var hash uint64
	for _, v := range *list {
		hash = hash*31 + maphash.Comparable(t.seed, v)
	}
	*list = alike(t, hash, slices.Clip(*list), slices.Equal[[]T])
}

// Value is [Map] of what a pointer points to.
func Value[T comparable](t *Table, p **T) {
	if *p != nil {
		*p = alike(t, maphash.Comparable(t.seed, **p), *p, func(a, b *T) bool { return *a == *b })
	}
}

func alike[T any](t *Table, hash uint64, v T, equal func(a, b T) bool) T {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := &t.values[hash%values]
	if was, ok := (*at).(T); ok && equal(was, v) {
		return was
	}
	*at = v
	return v
}
