package store

import (
	"context"
	"errors"
	"maps"
	"slices"

	"rackboot/protocol"
	"rackboot/state"
)

// Outcome is what Apply did to one object.
type Outcome string

// The outcomes of Apply.
const (
	Created    Outcome = "created"
	Configured Outcome = "configured"
	Unchanged  Outcome = "unchanged"
)

// ApplyOptions say how to apply and for whom.
type ApplyOptions struct {
	DryRun bool   // check everything, write nothing
	Create bool   // a resource that exists is a conflict
	By     string // the authenticated caller
	// Managed says that the hub itself writes what it made: a translated stub.
	Managed bool
	// Guard, if there is one, judges each change before anything else is said of the
	// set, under the lock that keeps other sets out. old is nil for a new resource; next
	// is what would be stored. An error ends the Apply.
	Guard func(old, next protocol.Object) error
}

// Guard judges a resource as it is stored, under the lock of the operation that ends
// it. An error ends the operation.
type Guard func(protocol.Object) error

// AtRevision is a Guard that wants the resource unchanged: another revision is a
// conflict.
func AtRevision(revision uint64) Guard {
	return func(obj protocol.Object) error {
		if have := obj.Head().Metadata.Revision; have != revision {
			return protocol.Errorf(protocol.CodeConflict, "compare revisions", "%s %q has revision %d, not %d",
				obj.Head().Kind, obj.Head().Metadata.Name, have, revision).
				WithHint("somebody has changed it; read it again, and repeat what is still right")
		}
		return nil
	}
}

func guarded(obj protocol.Object, guards []Guard) error {
	for _, g := range guards {
		if err := g(obj); err != nil {
			return err
		}
	}
	return nil
}

// ApplyResult is what became of one object. Object is as stored, or with
// DryRun as it would be stored.
type ApplyResult struct {
	Kind    protocol.Kind
	Name    string
	Outcome Outcome
	Object  protocol.Object
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
func (s *Store) Apply(ctx context.Context, objs []protocol.Object, opts ApplyOptions) ([]ApplyResult, error) {
	const op = "apply"
	unlock, err := s.setLock.acquire(ctx, op)
	if err != nil {
		return nil, err
	}
	defer unlock()
	done, locked := map[int]Outcome{}, false
	for try := 1; ; try++ {
		items, err := s.prepare(objs, opts)
		if err != nil {
			return nil, err
		}
		if !locked && slices.ContainsFunc(items, exchanged) {
			// From here on no hold comes to a server whose BMC is exchanged: it was
			// checked that none is there, so check once more. All other sets, however
			// large, keep no hold waiting.
			unlock, err := s.holdLock.acquire(ctx, op)
			if err != nil {
				return nil, err
			}
			defer unlock()
			locked = true
			if items, err = s.prepare(objs, opts); err != nil {
				return nil, err
			}
		}
		if !opts.DryRun {
			err = s.store(ctx, items, done, opts.By)
		}
		switch {
		case err == nil:
			return results(items, done), nil
		case !errors.Is(err, state.ErrConflict) || try == writeTries:
			return nil, stateError(op, err)
		}
	}
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

// store writes the items at once, up to the bounds of a commit. What is more is written in parts,
// in the order of protocol.Kinds, so that a crash between them leaves no reference without
// its target.
func (s *Store) store(ctx context.Context, items []applyItem, done map[int]Outcome, by string) error {
	var part []int // of items
	var ops []state.Op
	size := 0
	flush := func() error {
		if len(ops) == 0 {
			return nil
		}
		revisions, err := s.commit(ctx, ops)
		if err != nil {
			return err
		}
		for n, i := range part {
			it := items[i]
			h := it.next.Head()
			h.Metadata.Revision = revisions[n]
			done[i] = it.outcome
			s.logger.Info("resource applied", "kind", h.Kind, "name", h.Metadata.Name, "outcome", it.outcome,
				"generation", h.Metadata.Generation, "by", by)
		}
		part, ops, size = nil, nil, 0
		return nil
	}
	for _, kind := range protocol.Kinds() {
		for i, it := range items {
			h := it.next.Head()
			if h.Kind != kind || it.outcome == Unchanged {
				continue
			}
			value, err := encodeItem(it)
			if err != nil {
				return err
			}
			o := write(keyOf(kind, h.Metadata.Name), value, h.Metadata.Revision)
			if size += len(o.Key) + len(o.Value); len(ops) == state.MaxOps || size > state.MaxCommitBytes {
				if err := flush(); err != nil {
					return err
				}
				size = len(o.Key) + len(o.Value)
			}
			part, ops = append(part, i), append(ops, o)
		}
	}
	return flush()
}

// applyItem is one object of an Apply: old as stored (nil if it is new), next
// as it shall be stored, with the revision that it replaces.
type applyItem struct {
	old, next protocol.Object
	outcome   Outcome
	envelope  []byte // of a Secret
}

// exchanged says whether a stored server gets another BMC, or another of its systems:
// what a hold on it stops would be another machine.
func exchanged(it applyItem) bool {
	old, is := it.old.(*protocol.Server)
	if !is {
		return false
	}
	next := it.next.(*protocol.Server)
	return old.Spec.BMCRef != next.Spec.BMCRef || old.Spec.SystemURI != next.Spec.SystemURI
}

// prepare checks the whole set and works out what to write.
func (s *Store) prepare(objs []protocol.Object, opts ApplyOptions) ([]applyItem, error) {
	c := newChecker(s, len(objs))
	items := make([]applyItem, len(objs))
	seen := map[string]int{}
	for i, in := range objs {
		next, err := clone(in)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "apply", "object %d: %w", i, err)
		}
		clearStatus(next)
		if secret, ok := in.(*protocol.Secret); ok {
			next.(*protocol.Secret).Spec.Data = secret.Spec.Data // which no copy has
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
		old, err := s.GetObject(h.Kind, h.Metadata.Name)
		switch {
		case err == nil:
			items[i].old = old
			c.identity(i, &in.Head().Metadata, &old.Head().Metadata)
			if opts.Create {
				c.addConflict(i, "metadata.name", "it exists already")
			}
			if items[i].outcome, err = merge(next, old); err != nil {
				return nil, protocol.Errorf(protocol.CodeInternal, "apply", "%w", err)
			}
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			c.identity(i, &in.Head().Metadata, nil)
			h.Metadata = protocol.Metadata{Name: h.Metadata.Name, Labels: h.Metadata.Labels, Annotations: h.Metadata.Annotations}
			s.stamp(&h.Metadata)
		default:
			return nil, err
		}
		switch next := next.(type) {
		case *protocol.BMC:
			accept(next, items[i].old, opts.By)
		case *protocol.Maintenance:
			if old := items[i].old; old == nil || old.Head().Metadata.Generation != next.Metadata.Generation {
				next.Status.AskedBy = opts.By
			}
		case *protocol.Secret:
			c.managedStub(i, items[i].old, next, opts.Managed)
			if len(wrong) > 0 {
				continue
			}
			if err := s.encrypt(c, i, &items[i], data); err != nil {
				return nil, err
			}
		}
		if opts.Guard != nil {
			if err := opts.Guard(items[i].old, next); err != nil {
				return nil, err
			}
		}
	}
	c.set(items)
	return items, c.err()
}

// merge gives next the metadata and status that the hub owns, and says what
// changed. An unchanged next becomes old as it is.
func merge(next, old protocol.Object) (Outcome, error) {
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
