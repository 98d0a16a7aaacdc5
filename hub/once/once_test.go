package once

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

type word string

type inner struct {
	Word word
	Also *string
}

type said struct {
	Name   string
	Word   word
	Inner  inner
	To     *inner
	List   []inner
	Words  []string
	Pair   [2]word
	Raw    []byte
	At     time.Time
	Any    any
	Map    map[string]string
	Next   *said
	hidden string
}

func say(s string) *said {
	c := func() string { return strings.Clone(s) }
	also, more := c(), c()
	return &said{
		Name: c(), Word: word(c()), Inner: inner{word(c()), &also}, To: &inner{word(c()), &more}, List: []inner{{Word: word(c())}}, Words: []string{c(), ""},
		Pair: [2]word{word(c()), "x"}, Raw: []byte(s), At: time.Unix(1, 0), Any: c(), Map: map[string]string{"k": c()}, Next: &said{Name: c()}, hidden: c(),
	}
}

// texts are those that are to be shared.
func (v *said) texts() []string {
	return []string{v.Name, string(v.Word), string(v.Inner.Word), *v.Inner.Also, string(v.To.Word), *v.To.Also, string(v.List[0].Word), v.Words[0], string(v.Pair[0]), v.Next.Name}
}

func TestTextsAreInMemoryOnce(t *testing.T) {
	table, one, other := New(), say("installed"), say("installed")
	table.Texts(one)
	table.Texts(other)
	if !reflect.DeepEqual(other, say("installed")) {
		t.Fatalf("it says something else: %+v", other)
	}
	at := unsafe.StringData(one.Name)
	for i, s := range slices.Concat(one.texts(), other.texts()) {
		if unsafe.StringData(s) != at {
			t.Errorf("text %d is another one", i)
		}
	}
	long := say(strings.Repeat("l", maxText+1))
	table.Texts(long)
	if slices.Contains(table.texts, long.Name) {
		t.Error("a long text is kept")
	}
}

// Whatever comes, each value says what it said, and what is equal and comes at once is the same.
func TestNothingChangesByASharing(t *testing.T) {
	table := New()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		v := say(s)
		table.Texts(v)
		if !reflect.DeepEqual(v, say(s)) {
			t.Fatalf("%q became %+v", s, v)
		}
		m := rapid.MapOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "b"})).Draw(t, "map")
		a, b := maps.Clone(m), maps.Clone(m)
		Map(table, &a)
		Map(table, &b)
		if !maps.Equal(m, a) || len(m) > 0 && reflect.ValueOf(a).Pointer() != reflect.ValueOf(b).Pointer() {
			t.Fatalf("%v became %v and %v", m, a, b)
		}
		l := rapid.SliceOf(rapid.Int()).Draw(t, "list")
		c, d := slices.Clone(l), slices.Clone(l)
		List(table, &c)
		List(table, &d)
		if !slices.Equal(l, c) || len(l) > 0 && &c[0] != &d[0] || cap(c) != len(c) && len(l) > 0 {
			t.Fatalf("%v became %v and %v", l, c, d)
		}
		n := rapid.Int().Draw(t, "value")
		e, f, other := &n, new(n), new(uint8(n))
		Value(table, &e)
		Value(table, &f)
		Value(table, &other) // of another type, whatever its place
		if *e != n || e != f || *other != uint8(n) {
			t.Fatalf("%d became %d and %d, and %d", n, *e, *f, *other)
		}
	})
}

// A table has room for so many, and forgets: what is said once drives nothing out for long.
func TestATableIsBounded(t *testing.T) {
	table := New()
	var shared int
	var last *byte
	for i := range 10 * texts {
		v := &said{Name: fmt.Sprintf("unique-%d", i), Word: word(strings.Clone("often"))}
		table.Texts(v)
		if at := unsafe.StringData(string(v.Word)); at == last {
			shared++
		} else {
			last = at
		}
	}
	if len(table.texts) != texts || shared < 9*texts {
		t.Errorf("%d places; %d of %d words were shared", len(table.texts), shared, 10*texts)
	}
}

func TestATableIsUsedAtOnce(t *testing.T) {
	table := New()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 1000 {
				v, m := say(fmt.Sprint(i%10)), map[string]int{"a": i % 10}
				table.Texts(v)
				Map(table, &m)
				if v.Name != fmt.Sprint(i%10) || m["a"] != i%10 {
					t.Error("it says something else")
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkTexts(b *testing.B) {
	table, v := New(), say("installed")
	b.ReportAllocs()
	for b.Loop() {
		table.Texts(v)
	}
}
