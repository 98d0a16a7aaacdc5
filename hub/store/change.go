package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol/resource"
	"rackboot/state"
)

// change is what becomes of one resource or request, with its rules. Whoever writes one of
// those makes a change of it, so that no writer can forget a rule.
type change struct {
	taker
	key   string
	at    uint64 // revision of what is stored; 0 where nothing is
	value []byte // nil deletes
	had   []rule
	has   []rule
}

// changeOf is the change of a resource from old, nil where there is none, to next, nil where
// there shall be none.
func changeOf(old, next resource.Object, at uint64, value []byte) change {
	obj := next
	if next == nil {
		obj = old
	}
	h := obj.Head()
	return change{
		taker: taker{Kind: h.Kind, Name: h.Metadata.Name, UID: h.Metadata.UID}, key: keyOf(h.Kind, h.Metadata.Name),
		at: at, value: value, had: rulesOf(old), has: rulesOf(next),
	}
}

func (c change) op() state.Op {
	if c.value == nil {
		return state.Op{Kind: state.OpDelete, Key: c.key, Revision: c.at}
	}
	return write(c.key, c.value, c.at)
}

// leaves and comes are the rules that a change gives up, and takes.
func (c change) leaves() []rule { return without(c.had, c.has) }
func (c change) comes() []rule  { return without(c.has, c.had) }

func without(a, b []rule) []rule {
	if slices.Equal(a, b) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a), func(r rule) bool { return slices.Contains(b, r) })
}

func (c change) of(r rule) taker {
	t := c.taker
	t.Part = r.part
	return t
}

// transact makes changes with all that belongs to them, at once: their rules' keys, and checks
// that what they rest on is still at the revision at which it was judged. With again, after a
// conflict, it reads each rule's key and expects nothing. It returns the revisions of the
// changes. What is only changed in itself is one write. beside are keys of the hub's own that are written with them.
func (objs *Objects) transact(ctx context.Context, list []change, checks map[string]uint64, again bool, beside ...state.Op) ([]uint64, error) {
	ops := make([]state.Op, 0, len(list)+len(checks))
	for _, c := range list {
		ops = append(ops, c.op())
	}
	rules, err := objs.ruleOps(ctx, list, again)
	if err != nil {
		return nil, err
	}
	ops = append(append(ops, rules...), beside...)
	written := make(map[string]bool, len(ops))
	for _, o := range ops {
		written[o.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(checks)) {
		if !written[key] {
			ops = append(ops, state.Op{Kind: state.OpCheck, Key: key, Revision: checks[key]})
		}
	}
	revisions, err := objs.core.commit(ctx, ops)
	if err != nil {
		return nil, err
	}
	return revisions[:len(list)], nil
}

// turnover is who leaves a rule and who comes.
type turnover struct{ leave, come []taker }

// ruleOps are the ops of the rules of changes. A key is read where somebody leaves it or others
// may be there; else it is created, and a conflict says if that was wrong.
func (objs *Objects) ruleOps(ctx context.Context, list []change, again bool) (ops []state.Op, err error) {
	keys := map[string]*turnover{}
	at := func(r rule) *turnover {
		if keys[r.key] == nil {
			keys[r.key] = &turnover{}
		}
		return keys[r.key]
	}
	for _, c := range list {
		for _, r := range c.leaves() {
			at(r).leave = append(at(r).leave, c.of(r))
		}
		for _, r := range c.comes() {
			at(r).come = append(at(r).come, c.of(r))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		t := keys[key]
		var there []taker
		var revision uint64
		if again || len(t.leave) > 0 || objs.peopled(key) {
			if there, revision, err = objs.takers(ctx, key); err != nil {
				return nil, err
			}
		}
		next, clash := t.apply(there)
		if clash != nil {
			objs.core.refresh(ctx, key)
			return nil, &takenError{key, *clash}
		}
		switch {
		case len(next) == 0 && revision == 0:
		case len(next) == 0:
			ops = append(ops, state.Op{Kind: state.OpDelete, Key: key, Revision: revision})
		default:
			value, err := json.Marshal(next)
			if err != nil {
				return nil, err
			}
			ops = append(ops, write(key, value, revision))
		}
	}
	return ops, nil
}

// apply is who has it afterwards, or whom somebody who comes clashes with.
func (t *turnover) apply(there []taker) (next []taker, clash *taker) {
	next = slices.DeleteFunc(slices.Clone(there), func(x taker) bool {
		return slices.ContainsFunc(t.leave, x.same)
	})
	for _, x := range t.come {
		next = slices.DeleteFunc(next, x.same)
		if i := slices.IndexFunc(next, x.excludes); i >= 0 {
			return nil, &next[i]
		}
		next = append(next, x)
	}
	slices.SortFunc(next, func(a, b taker) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return next, nil
}

// peopled reports whether others are to be expected at a rule's key: other systems of a BMC.
func (objs *Objects) peopled(key string) bool {
	bmc, ok := strings.CutPrefix(key, systemRule)
	return ok && len(Referring[*resource.Server](objs, resource.KindBMC, bmc)) > 0
}

// takers reads who has what a rule is about.
func (objs *Objects) takers(ctx context.Context, key string) ([]taker, uint64, error) {
	e, err := objs.core.kv.Get(ctx, key)
	if errors.Is(err, state.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	list, err := readTakers(e)
	return list, e.Revision, err
}
