package explore

import "testing"

// die is a pair of counters of which each step raises one; wrong is that both come to two.
type die struct{ a, b uint8 }

func dice(most uint8, wrong die) Model[die, die] {
	same := func(s die) die { return s }
	return Model[die, die]{Roots: []die{{}}, Pack: same, Unpack: same, Next: func(s die, to func(Step, die, string)) {
		for _, n := range []die{{s.a + 1, s.b}, {s.a, s.b + 1}} {
			if n.a > most || n.b > most {
				continue
			}
			what, why := Step{What: n.a - s.a}, ""
			if n == wrong {
				why = "wrong"
			}
			to(what, n, why)
		}
	}}
}

func TestSearchSeesAll(t *testing.T) {
	f := Search(dice(99, die{200, 200}), Bounds{Depth: 1000, States: 1 << 20})
	if f.States != 100*100 || f.Wrong != "" || f.Steps != 2*100*99 {
		t.Errorf("%+v", f)
	}
	if f := Search(dice(99, die{200, 200}), Bounds{Depth: 5, States: 1 << 20}); f.States != 1+2+3+4+5+6 || f.Depth != 5 {
		t.Errorf("to a depth of 5: %+v", f)
	}
	if f := Search(dice(99, die{200, 200}), Bounds{Depth: 1000, States: 50}); f.States != 50 {
		t.Errorf("50 states: %+v", f)
	}
}

func TestSearchFindsTheShortestWay(t *testing.T) {
	m := dice(99, die{3, 2})
	f := Search(m, Bounds{Depth: 5, States: 1 << 20})
	if f.Wrong != "wrong" || len(f.Trace) != 5 {
		t.Fatalf("%+v", f)
	}
	var states []die
	for _, s := range m.Path(f) {
		states = append(states, s)
	}
	if last := states[len(states)-1]; len(states) != 5 || last != (die{2, 2}) && last != (die{3, 1}) {
		t.Errorf("%v", states)
	}
	if f := Search(m, Bounds{Depth: 4, States: 1 << 20}); f.Wrong != "" {
		t.Errorf("4 steps from it: %+v", f)
	}
}

func TestSearchAsksForRest(t *testing.T) {
	m := dice(9, die{200, 200})
	m.Rest = func(s die) string {
		if s == (die{1, 1}) {
			return "unrest"
		}
		return ""
	}
	if f := Search(m, Bounds{Depth: 10, States: 1 << 20}); f.Wrong != "unrest" || len(f.Trace) != 2 {
		t.Errorf("%+v", f)
	}
	m.Every = 3
	m.Rest = func(die) string { return "" }
	if f := Search(m, Bounds{Depth: 100, States: 1 << 20}); f.Rested != 33 {
		t.Errorf("%+v", f)
	}
}

func TestSet(t *testing.T) {
	s := newSet()
	hash := func(i uint64) uint64 { return i * 0x9e3779b97f4a7c15 } // different for different numbers
	for i := range uint64(200_000) {
		if !s.add(hash(i + 1)) {
			t.Fatalf("%d was known", i)
		}
	}
	for i := range uint64(200_000) {
		if s.add(hash(i + 1)) {
			t.Fatalf("%d was not known", i)
		}
	}
}
