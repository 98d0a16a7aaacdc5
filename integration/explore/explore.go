package explore

import (
	"hash/maphash"
	"iter"
	"slices"
)

// Step is what happens between a state and one after it. What it means, the model says.
type Step struct{ What, Who, Which uint8 }

// Model is what is explored: states S, which P are a short form of.
type Model[S, P comparable] struct {
	// Roots are the states that it begins with.
	Roots []S
	// Next calls to for each state after s, always in the same order. wrong says what must not be; empty is nothing.
	Next func(s S, to func(step Step, next S, wrong string))
	// Pack is the short form of a state, in which it waits until the steps after it are taken, and Unpack the state.
	Pack   func(S) P
	Unpack func(P) S
	// Rest says what is wrong of a state where nothing bad happens any more; nil is nothing. It is asked for one of Every
	// states.
	Rest  func(S) (wrong string)
	Every uint64
}

// Bounds are where a search ends.
type Bounds struct {
	Depth  int // steps from a root
	States int // different states
}

// Found is what a search has found.
type Found[S comparable] struct {
	States int // different ones
	Steps  int // between them, also to states that were known
	Depth  int // all states up to here were looked at
	Rested int // of how many it was asked how they come to rest
	// Wrong says what is wrong; empty is nothing. Root and Trace are how it comes to that.
	Wrong string
	Root  S
	Trace []Step
}

// Search goes through the states of a model until it finds something wrong, has seen all, or comes to a bound. States of the
// last depth are not kept: what is wrong of a step that leads to one is found.
func Search[S, P comparable](m Model[S, P], b Bounds) Found[S] {
	x := &search[S, P]{model: m, bounds: b, seed: maphash.MakeSeed(), known: newSet()}
	x.run()
	return x.found
}

// from says how a state was come to: the state before it and the number of the step there; a root's is its own number.
type from struct {
	before uint32
	step   uint16
	root   bool
}

type search[S, P comparable] struct {
	model  Model[S, P]
	bounds Bounds
	seed   maphash.Seed
	known  *set
	ways   chunks[from]
	found  Found[S]
}

func (x *search[S, P]) run() {
	level := &chunks[P]{}
	for i, s := range x.model.Roots {
		if !x.news(s) {
			continue
		}
		level.add(x.model.Pack(s))
		x.ways.add(from{before: uint32(i), root: true})
		if wrong := x.rest(s); wrong != "" {
			x.fail(wrong, x.ways.len()-1, -1)
			return
		}
	}
	first := 0 // the number of the level's first state
	for x.found.Depth < x.bounds.Depth && level.len() > 0 {
		next := &chunks[P]{}
		last := x.found.Depth+1 == x.bounds.Depth
		at := first
		first = x.ways.len()
		for p := range level.drain() {
			n := 0
			x.model.Next(x.model.Unpack(p), func(_ Step, to S, wrong string) {
				if x.found.Wrong != "" || x.found.States >= x.bounds.States {
					return
				}
				n++
				x.found.Steps++
				if wrong == "" && x.news(to) {
					wrong = x.rest(to)
					if !last {
						next.add(x.model.Pack(to))
						x.ways.add(from{before: uint32(at), step: uint16(n - 1)})
					}
				}
				if wrong != "" {
					x.fail(wrong, at, n-1)
				}
			})
			if x.found.Wrong != "" || x.found.States >= x.bounds.States {
				return
			}
			at++
		}
		x.found.Depth++
		level = next
	}
}

// news reports whether a state was not seen before.
func (x *search[S, P]) news(s S) bool {
	if !x.known.add(maphash.Comparable(x.seed, s)) {
		return false
	}
	x.found.States++
	return true
}

func (x *search[S, P]) rest(s S) string {
	if x.model.Rest == nil || x.model.Every > 1 && uint64(x.found.States)%x.model.Every != 0 {
		return ""
	}
	x.found.Rested++
	return x.model.Rest(s)
}

// fail notes what is wrong after a step of a state, or of that state itself where the step is -1.
func (x *search[S, P]) fail(wrong string, state, step int) {
	var steps []int
	if step >= 0 {
		steps = append(steps, step)
	}
	w := x.ways.at(state)
	for ; !w.root; w = x.ways.at(int(w.before)) {
		steps = append(steps, int(w.step))
	}
	x.found.Wrong, x.found.Root = wrong, x.model.Roots[w.before]
	s := x.found.Root
	for _, step := range slices.Backward(steps) {
		n := 0
		var after S
		x.model.Next(s, func(what Step, to S, _ string) {
			if n == step {
				x.found.Trace, after = append(x.found.Trace, what), to
			}
			n++
		})
		s = after
	}
}

// Path gives the steps of a trace, each with the state before it.
func (m Model[S, P]) Path(f Found[S]) iter.Seq2[Step, S] {
	return func(yield func(Step, S) bool) {
		s := f.Root
		for _, want := range f.Trace {
			if !yield(want, s) {
				return
			}
			found := false
			m.Next(s, func(what Step, to S, _ string) {
				if !found && what == want {
					found, s = true, to
				}
			})
		}
	}
}
