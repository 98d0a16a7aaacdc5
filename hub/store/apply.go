package store

import (
	"context"
	"maps"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// ApplyOptions say how to apply and for whom.
type ApplyOptions struct {
	DryRun bool   // check everything, write nothing
	Create bool   // a resource that exists is a conflict
	By     string // the authenticated caller
	// Managed says that the hub itself writes what it made: a translated stub.
	Managed bool
	// Guard, if there is one, judges each change before anything else is said of the
	// set, and again whenever somebody has changed one of them meanwhile. old is nil for a new resource; next
	// is what would be stored. An error ends the Apply.
	Guard func(old, next resource.Object) error
}

// ApplyResult is what became of one object. Object is as stored, or with
// DryRun as it would be stored.
type ApplyResult struct {
	Kind    resource.Kind
	Name    string
	Outcome Outcome
	Object  resource.Object
}

// Apply writes a set of user-written resources: all of them are checked, by
// themselves and against each other and the store, before any is written. A set
// within the bounds of a commit ([state.MaxOps]) is written at once; a larger one
// in parts. The results are in input order.
//
// The hub owns status, uid, generation and the times: those of the input are
// ignored, but a uid or revision that is given must be the stored one. The
// generation grows when the spec changes, and only then.
//
// The codes are invalid (with [ApplyErrors]), conflict (with ApplyErrors where a
// uid or revision was given, else after other writers won [writeTries] times),
// unavailable and timeout. After the last two, repeat the Apply.
func (st *Sets) Apply(ctx context.Context, objs []resource.Object, opts ApplyOptions) ([]ApplyResult, error) {
	const op = "apply"
	done := map[int]Outcome{}
	shut := map[string]uint64{} // what this Apply has closed, and at which revision
	defer func() {
		for key, at := range shut {
			st.core.reopen(ctx, key, at) // unless it was written
		}
	}()
	known := opts.DryRun || st.core.alone() // what is not written is so in the store, and not only as far as this hub has heard
	for try, written := 1, 0; ; try++ {
		var items []applyItem
		err := st.objects.sets.pass(ctx, op, try > 1 || hasParams(objs), func() (err error) {
			items, err = st.applyOnce(ctx, objs, opts, done, shut, try > 1)
			return err
		})
		switch {
		case err == nil && (known || len(done) == len(items)):
			return results(items, done), nil
		case err == nil:
			if err = st.core.current(ctx); err == nil {
				known = true
				continue
			}
		case len(done) > written: // a part was written: it goes on
			try, written = 1, len(done)
		}
		if !st.core.again(ctx, err, try) {
			return nil, err
		}
	}
}

// hasParams reports whether a set has Params: values of a new one, which nobody had to check, must not come
// at the same time.
func hasParams(objs []resource.Object) bool {
	return slices.ContainsFunc(objs, func(o resource.Object) bool { return resource.KindOfType(o) == resource.KindParam })
}

// applyOnce is one try: what it wrote is in done.
func (st *Sets) applyOnce(ctx context.Context, objs []resource.Object, opts ApplyOptions, done map[int]Outcome, shut map[string]uint64, again bool) ([]applyItem, error) {
	const op = "apply"
	for range writeTries {
		items, closed, err := st.prepare(objs, opts, shut)
		if err != nil || opts.DryRun {
			return items, err
		}
		switch shuts, err := st.shut(ctx, items, shut); {
		case err != nil:
			return nil, stateError(op, err)
		case shuts:
			continue
		}
		if len(closed) > 0 { // somebody judges, and may delete it
			for _, key := range closed {
				if _, _, err := st.core.opened(ctx, key); err != nil {
					return nil, stateError(op, err)
				}
			}
			continue
		}
		b := batch{objects: st.objects, items: items, kinds: resource.Kinds(), again: again, written: func(i int) {
			it := items[i]
			h := it.next.Head()
			done[i] = it.outcome
			st.core.logger.Info("resource applied", "kind", h.Kind, "name", h.Metadata.Name, "outcome", it.outcome,
				"generation", h.Metadata.Generation, "by", opts.By)
		}}
		if err := b.write(ctx); err != nil {
			return nil, err
		}
		return items, nil
	}
	return nil, stateError(op, state.ErrConflict)
}

// shut closes what is changed such that it matters who refers to it, and was not closed yet; true if
// there was any: then everything is judged once more.
func (st *Sets) shut(ctx context.Context, items []applyItem, shut map[string]uint64) (bool, error) {
	any := false
	for _, it := range items {
		if !it.closes() {
			continue
		}
		key := keyOf(it.next.Head().Kind, it.next.Head().Metadata.Name)
		e, there := st.core.mirror.get(key)
		if !there || e.Revision == shut[key] {
			continue
		}
		at, err := st.core.close(ctx, e)
		if err != nil {
			return false, err
		}
		shut[key], any = at, true
	}
	return any, nil
}

func results(items []applyItem, done map[int]Outcome) []ApplyResult {
	out := make([]ApplyResult, len(items))
	for i, it := range items {
		h := it.next.Head()
		outcome := it.outcome
		if o, ok := done[i]; ok {
			outcome = o // of an earlier try, which wrote it
		}
		out[i] = ApplyResult{Kind: h.Kind, Name: h.Metadata.Name, Outcome: outcome, Object: it.next}
	}
	return out
}

// prepare checks the whole set and works out what to write. closed is what somebody else has closed;
// what is in shut is closed by this Apply.
func (st *Sets) prepare(objs []resource.Object, opts ApplyOptions, shut map[string]uint64) (items []applyItem, closed []string, err error) {
	c := newChecker(st, len(objs))
	items = make([]applyItem, len(objs))
	seen := map[string]int{}
	for i, in := range objs {
		next, err := clone(in)
		if err != nil {
			return nil, nil, protocol.Errorf(protocol.CodeInvalid, "apply", "object %d: %w", i, err)
		}
		clearStatus(next)
		if secret, ok := in.(*resource.Secret); ok {
			next.(*resource.Secret).Spec.Data = secret.Spec.Data // which no copy has
		}
		next.Default()
		h := next.Head()
		c.name(i, h)
		items[i] = applyItem{next: next, outcome: Created}
		if !h.Kind.Appliable() {
			c.add(i, "kind", "%s is made by the hub and cannot be applied", h.Kind)
			continue
		}
		wrong := next.Validate()
		c.addAll(i, wrong)
		data := takeData(next)
		if first, twice := seen[keyOf(h.Kind, h.Metadata.Name)]; twice {
			c.add(i, "metadata.name", "%s %q is in the set twice, first as object %d", h.Kind, h.Metadata.Name, first)
			continue
		}
		seen[keyOf(h.Kind, h.Metadata.Name)] = i
		old, err := st.objects.Get(h.Kind, h.Metadata.Name)
		switch {
		case err == nil:
			items[i].old, items[i].at = old, old.Head().Metadata.Revision
			if e, there := st.core.mirror.get(keyOf(h.Kind, h.Metadata.Name)); there && e.closed != 0 && e.Revision == items[i].at {
				old.Head().Metadata.Revision = e.closed // as whoever applies has read it
				if e.Revision != shut[e.Key] {
					closed = append(closed, e.Key)
				}
			}
			c.identity(i, &in.Head().Metadata, &old.Head().Metadata)
			if opts.Create {
				c.addConflict(i, "metadata.name", "it exists already")
			}
			if items[i].outcome, err = merge(next, old); err != nil {
				return nil, nil, protocol.Errorf(protocol.CodeInternal, "apply", "%w", err)
			}
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			c.identity(i, &in.Head().Metadata, nil)
			h.Metadata = resource.Metadata{Name: h.Metadata.Name, Labels: h.Metadata.Labels, Annotations: h.Metadata.Annotations}
			st.objects.stamp(&h.Metadata)
		default:
			return nil, nil, err
		}
		switch next := next.(type) {
		case *resource.BMC:
			accept(next, items[i].old, opts.By)
		case *resource.Maintenance:
			if old := items[i].old; old == nil || old.Head().Metadata.Generation != next.Metadata.Generation {
				next.Status.AskedBy = opts.By
			}
		case *resource.Freeze:
			if old := items[i].old; old == nil || old.Head().Metadata.Generation != next.Metadata.Generation {
				next.Status.By = opts.By
			}
		case *resource.Secret:
			c.managedStub(i, items[i].old, next, opts.Managed)
			if len(wrong) > 0 {
				continue
			}
			if err := st.encrypt(c, i, &items[i], data); err != nil {
				return nil, nil, err
			}
		}
		if opts.Guard != nil {
			if err := opts.Guard(items[i].old, next); err != nil {
				return nil, nil, err
			}
		}
	}
	c.set(items)
	for _, key := range c.closed {
		if _, ours := shut[key]; !ours {
			closed = append(closed, key)
		}
	}
	return items, closed, c.err()
}

// merge gives next the metadata and status that the hub owns, and says what
// changed. An unchanged next becomes old as it is.
func merge(next, old resource.Object) (Outcome, error) {
	// Defaults may have grown since old was stored; filling them is no change.
	defaulted, err := clone(old)
	if err != nil {
		return "", err
	}
	defaulted.Default()
	same, err := sameSpec(next, defaulted)
	if err != nil {
		return "", err
	}
	n, o := &next.Head().Metadata, old.Head().Metadata
	outcome := Unchanged
	if !same || !maps.Equal(n.Labels, o.Labels) || !maps.Equal(n.Annotations, o.Annotations) {
		outcome = Configured
	}
	o.Labels, o.Annotations = n.Labels, n.Annotations
	if !same {
		o.Generation++
	}
	*n = o
	return outcome, copyStatus(next, old)
}
