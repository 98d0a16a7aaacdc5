package bootenv

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// guard refuses a call that would make more than the meter allows, before it does. What
// functions without one return grows with what they are given, which is counted.
type guard func(m *meter, args []reflect.Value) error

// Bounds of single arguments.
const (
	maxWidth   = 1024 // of a verb of printf
	maxCutset  = 256  // bytes
	maxVersion = 1024 // bytes of a version and its constraints
	maxUnique  = 1000 // items that are compared each with each
)

// guards lists them by function.
func guards() map[string]guard {
	out := map[string]guard{
		"repeat": func(m *meter, a []reflect.Value) error {
			n := a[0].Int()
			if n < 0 || n > int64(m.max.ValueBytes) {
				return errors.New("the count is negative or too large")
			}
			return m.make(product(int(n), a[1].Len()))
		},
		"until":     func(m *meter, a []reflect.Value) error { return m.items(0, a[0].Int(), 1) },
		"untilStep": func(m *meter, a []reflect.Value) error { return m.items(a[0].Int(), a[1].Int(), a[2].Int()) },
		"seq":       guardSeq,
		"indent":    guardIndent,
		"nindent":   guardIndent,
		"replace": func(m *meter, a []reflect.Value) error {
			return m.make(product(strings.Count(a[2].String(), a[0].String()), a[1].Len()) + a[2].Len())
		},
		"join": func(m *meter, a []reflect.Value) error {
			return m.make(product(length(a[1]), a[0].Len()))
		},
		"wrap": func(m *meter, a []reflect.Value) error { return m.make(product(a[1].Len(), 2)) },
		"wrapWith": func(m *meter, a []reflect.Value) error {
			lines := a[2].Len()/max(1, int(a[0].Int())) + strings.Count(a[2].String(), "\n") + 1
			return m.make(product(lines, a[1].Len()) + a[2].Len())
		},
		"split":     guardSplit,
		"splitList": guardSplit,
		"splitn":    guardSplit,
		"trimall":   guardCutset,
		"trimAll":   guardCutset,
		"printf":    guardPrintf,
		"uniq":      guardUnique,
		"mustUniq":  guardUnique,
		"chunk":     guardChunk,
		"mustChunk": guardChunk,
		"semver":    guardVersion, "semverCompare": guardVersion,
		"deepCopy": guardPlain, "mustDeepCopy": guardPlain,
		"merge": guardPlain, "mustMerge": guardPlain, "mergeOverwrite": guardPlain, "mustMergeOverwrite": guardPlain,
	}
	maps.Copy(out, regexGuards())
	return out
}

// product is a*b, or the largest number where that is too large.
func product(a, b int) int {
	if a > 0 && b > math.MaxInt32/a {
		return math.MaxInt32
	}
	return a * b
}

// items refuses a sequence that is too long, or has no end.
func (m *meter) items(start, stop, step int64) error {
	if step == 0 || step == math.MinInt64 {
		return errors.New("the step is 0 or too large")
	}
	if n := math.Abs(float64(stop)-float64(start)) / math.Abs(float64(step)); n > float64(m.max.Items) {
		return fmt.Errorf("a list would have %.0f items, at most %d are made", n, m.max.Items)
	}
	return nil
}

// guardSeq: end, or start and end, or start, step and end.
func guardSeq(m *meter, a []reflect.Value) error {
	n := a[0] // the parameters are variadic
	at := func(i int) int64 { return n.Index(i).Int() }
	switch n.Len() {
	case 1:
		return m.items(1, at(0), 1)
	case 2:
		return m.items(at(0), at(1), 1)
	case 3:
		return m.items(at(0), at(2), at(1))
	}
	return nil
}

func guardIndent(m *meter, a []reflect.Value) error {
	n := a[0].Int()
	if n < 0 || n > maxWidth {
		return fmt.Errorf("the indent is negative or more than %d", maxWidth)
	}
	return m.make(product(int(n), strings.Count(a[1].String(), "\n")+1) + a[1].Len())
}

func guardSplit(m *meter, a []reflect.Value) error {
	if n := strings.Count(a[len(a)-1].String(), a[0].String()); n > m.max.Items {
		return fmt.Errorf("a list would have %d items, at most %d are made", n, m.max.Items)
	}
	return nil
}

func guardCutset(m *meter, a []reflect.Value) error {
	if a[0].Len() > maxCutset {
		return fmt.Errorf("the set of characters has more than %d bytes", maxCutset)
	}
	return m.use(product(a[0].Len(), a[1].Len()))
}

func guardUnique(m *meter, a []reflect.Value) error {
	n := length(a[0])
	if n > maxUnique {
		return fmt.Errorf("the list has %d items, at most %d are compared", n, maxUnique)
	}
	size, err := m.size(a[0])
	if err != nil {
		return err
	}
	return m.use(product(n, size))
}

func guardChunk(m *meter, a []reflect.Value) error {
	if a[0].Int() < 1 {
		return errors.New("the size is less than 1")
	}
	return nil
}

func guardVersion(m *meter, a []reflect.Value) error {
	for _, v := range a {
		if v.Len() > maxVersion {
			return fmt.Errorf("a version has more than %d bytes", maxVersion)
		}
	}
	return m.use(4 * maxVersion)
}

// guardPrintf refuses widths and precisions that pad, and formats that repeat their
// arguments by number.
func guardPrintf(m *meter, a []reflect.Value) error {
	format, given := a[0].String(), 0
	for i := range a[1].Len() {
		n, err := m.size(a[1].Index(i))
		if err != nil {
			return err
		}
		given += n
	}
	verbs, pad, spec, number := 0, 0, false, 0
	for _, c := range format {
		switch {
		case c == '%':
			verbs, spec, number = verbs+1, !spec, 0
		case !spec:
		case c >= '0' && c <= '9':
			if number = number*10 + int(c-'0'); number > maxWidth {
				return fmt.Errorf("a width is more than %d", maxWidth)
			}
		case c == '*':
			return errors.New("a width is an argument")
		case c == 'p':
			return errors.New("%p is where something lies in the agent's memory, and another file each time")
		case c == 'w': // fmt prints its operand without asking how it is printed
			return errors.New("%w is for errors, and there are none here; write %v")
		case strings.ContainsRune(".[]+-# ", c):
			pad, number = pad+number, 0
		default:
			pad, number, spec = pad+number, 0, false
		}
	}
	if !strings.Contains(format, "[") { // each argument is printed once
		return m.make(product(verbs, sizeOpaque) + pad + given + len(format))
	}
	return m.make(product(verbs, sizeOpaque+given) + pad + len(format))
}

// guardPlain refuses what is ours among the values: a copy of it is of no use, and a merge
// would change it.
func guardPlain(m *meter, a []reflect.Value) error {
	var look func(v reflect.Value) bool
	look = func(v reflect.Value) bool {
		switch v.Kind() {
		case reflect.Interface:
			return look(v.Elem())
		case reflect.Pointer, reflect.Struct:
			return true
		case reflect.Map:
			for it := v.MapRange(); it.Next(); {
				if look(it.Value()) {
					return true
				}
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				if look(v.Index(i)) {
					return true
				}
			}
		default:
		}
		return false
	}
	if slices.ContainsFunc(a, look) {
		return errors.New("only plain values are copied and merged")
	}
	for _, v := range a {
		n, err := m.size(v)
		if err != nil {
			return err
		}
		if err := m.use(n * sizeCopy); err != nil {
			return err
		}
	}
	return nil
}

// length is that of a list, 1 of anything else.
func length(v reflect.Value) int {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		return v.Len()
	}
	return 1
}
