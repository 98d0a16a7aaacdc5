package store

import (
	"context"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// batch writes the items of a set that are not unchanged: at once, up to the bounds of a commit. What is
// more is written in parts, in the order of kinds, in which a resource comes after those that it
// refers to, so that a crash between parts leaves no reference without its target.
type batch struct {
	objects *Objects
	items   []applyItem
	kinds   []resource.Kind
	again   bool
	// begun is called before each part, if it is there; written for each item that was written.
	begun   func()
	written func(i int)

	index map[string]int // of the items, by key
	part  []int
	list  []change
	there map[string]bool   // keys of the part
	judge map[string]uint64 // keys that the part rests on
	ops   int
	size  int
}

// ruleSize is about what a rule's key takes with its value, in bytes.
const ruleSize = 512

func (b *batch) write(ctx context.Context) error {
	b.index = map[string]int{}
	for i, it := range b.items {
		b.index[keyOf(it.next.Head().Kind, it.next.Head().Metadata.Name)] = i
	}
	b.clear()
	var all [][]int
	for _, kind := range b.kinds {
		all = append(all, b.together(kind)...)
	}
	for _, together := range all { // before anything is written
		if err := b.fits(together); err != nil {
			return err
		}
	}
	for _, together := range all {
		if err := b.add(ctx, together); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// fits says why items that are written in one commit cannot be.
func (b *batch) fits(together []int) error {
	list := make([]change, len(together))
	for n, i := range together {
		list[n] = changeOf(b.items[i].old, b.items[i].next, b.items[i].at, nil)
	}
	if ops, _ := b.cost(together, list); len(together) > 1 && ops > state.MaxOps {
		return protocol.Errorf(protocol.CodeInvalid, "apply", "%d %s exchange what only one may have, which takes %d keys, and %d is the most that is written at once", len(together), list[0].Kind.Plural(), ops, state.MaxOps).
			WithHint("nothing was changed; let some give up first what others are to get, in a set of their own")
	}
	return nil
}

func (b *batch) clear() {
	b.part, b.list, b.ops, b.size = nil, nil, 0, 0
	b.there, b.judge = map[string]bool{}, map[string]uint64{}
}

// together are the items of a kind that are written, in their order, those in one list that are
// written in one commit: one that gives up a MAC address, and the one that gets it.
func (b *batch) together(kind resource.Kind) (lists [][]int) {
	leaver := map[string]int{} // rule -> who gives it up
	at := map[int]int{}        // item -> its list
	for i, it := range b.items {
		if it.next.Head().Kind != kind || it.outcome == Unchanged {
			continue
		}
		at[i] = len(lists)
		lists = append(lists, []int{i})
		for _, r := range without(rulesOf(it.old), rulesOf(it.next)) {
			leaver[r.key] = i
		}
	}
	if len(leaver) == 0 {
		return lists
	}
	for i, it := range b.items {
		into, there := at[i]
		if !there {
			continue
		}
		for _, r := range without(rulesOf(it.next), rulesOf(it.old)) {
			from, gives := leaver[r.key]
			if !gives || at[from] == into {
				continue
			}
			other := at[from]
			for _, n := range lists[other] {
				at[n] = into
			}
			lists[into], lists[other] = append(lists[into], lists[other]...), nil
		}
	}
	return slices.DeleteFunc(lists, func(l []int) bool { return len(l) == 0 })
}

// add takes items into the present part, or after it.
func (b *batch) add(ctx context.Context, together []int) error {
	list := make([]change, len(together))
	for n, i := range together {
		it := b.items[i]
		value, err := encodeItem(it)
		if err != nil {
			return err
		}
		list[n] = changeOf(it.old, it.next, it.at, value)
	}
	ops, size := b.cost(together, list)
	if b.ops+ops > state.MaxOps || b.size+size > state.MaxCommitBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
		ops, size = b.cost(together, list)
	}
	b.ops, b.size = b.ops+ops, b.size+size
	b.part, b.list = append(b.part, together...), append(b.list, list...)
	for _, c := range list {
		b.there[c.key] = true
	}
	for _, i := range together {
		for key, at := range b.items[i].judged {
			if n, inSet := b.index[key]; inSet {
				at = b.items[n].at
			}
			if !b.there[key] {
				b.judge[key] = at
			}
		}
	}
	return nil
}

// cost is how many keys and bytes items add to the present part.
func (b *batch) cost(together []int, list []change) (ops, size int) {
	counted := map[string]bool{}
	for n, i := range together {
		rules := len(list[n].leaves()) + len(list[n].comes())
		ops += 1 + rules
		size += len(list[n].key) + len(list[n].value) + rules*ruleSize
		for key := range b.items[i].judged {
			if _, judged := b.judge[key]; !judged && !b.there[key] && !counted[key] {
				counted[key] = true
				ops++
			}
		}
	}
	return ops, size
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.list) == 0 {
		return nil
	}
	if b.begun != nil {
		b.begun()
	}
	revisions, err := b.objects.transact(Patient(ctx), b.list, b.judge, b.again)
	if err != nil {
		return stateError("write a set", err)
	}
	for n, i := range b.part {
		b.items[i].at = revisions[n]
		b.items[i].next.Head().Metadata.Revision = revisions[n]
		b.written(i)
	}
	b.clear()
	return nil
}
