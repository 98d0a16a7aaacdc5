package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"rackboot/state"
)

// refreshWait bounds how long a writer that lost waits for the watch to bring all that it lost to.
const refreshWait = time.Second

// write is the Op that makes a key's value at a revision; 0 creates.
func write(key string, value []byte, revision uint64) state.Op {
	if revision == 0 {
		return state.Op{Kind: state.OpCreate, Key: key, Value: value}
	}
	return state.Op{Kind: state.OpUpdate, Key: key, Value: value, Revision: revision}
}

// commit writes several keys, all or nothing, then the mirror, in which nobody sees half of it.
// The revisions are those of the ops. What the context says is expected besides; see Under.
func (co *core) commit(ctx context.Context, ops []state.Op) ([]uint64, error) {
	if err := co.healthy(); err != nil {
		return nil, err
	}
	check, err := co.expects(ctx)
	if err != nil {
		return nil, err
	}
	if check.Key != "" {
		ops = append(slices.Clone(ops), check)
	}
	co.haste.GiveWay(ctx)
	revisions, err := co.joint.commit(ctx, ops)
	if errors.Is(err, state.ErrConflict) {
		lost := state.Conflicting(err)
		if len(lost) == 0 { // it is not known which
			for _, o := range ops {
				lost = append(lost, o.Key)
			}
		}
		co.refresh(ctx, lost...)
	}
	if err != nil {
		return nil, err
	}
	change := make([]cached, 0, len(ops))
	for i, o := range ops {
		if aside(o.Key) {
			continue
		}
		switch o.Kind {
		case state.OpCheck:
		case state.OpDelete:
			change = append(change, cached{Entry: state.Entry{Key: o.Key, Revision: o.Revision, Deleted: true}})
		case state.OpCreate, state.OpUpdate:
			change = append(change, co.readLogged(state.Entry{Key: o.Key, Value: o.Value, Revision: revisions[i]}))
		}
	}
	co.mirror.applyOwn(change...)
	return revisions, nil
}

// refresh brings keys up to date after a lost compare-and-set, so that a retry sees what it lost to.
// That is waited for, since what others wrote may be a commit, of which one key alone would be
// half. Only where nothing is watched the keys are read one by one; never where other hubs write: with a ledger that is
// newer than the holds a hub that takes a rack would have an agent enforce again what it has let go.
func (co *core) refresh(ctx context.Context, keys ...string) {
	alone := co.alone()
	if !alone && !co.following.Load() {
		return // who lost loses again, until the watch has brought what it lost to
	}
	wait, stop := context.WithTimeout(ctx, refreshWait)
	defer stop()
	for _, key := range keys {
		e, err := co.kv.Get(ctx, key)
		old, had := co.mirror.get(key)
		switch {
		case err == nil && aside(key):
			if !co.awaits(wait, func() bool { return co.mirror.position() >= e.Revision }) {
				co.refreshTakers(ctx, e)
			}
		case err == nil:
			if !co.awaits(wait, func() bool { return co.mirror.has(key, e.Revision) || co.mirror.position() >= e.Revision }) && alone {
				co.mirror.apply(co.readLogged(e))
			}
		case errors.Is(err, state.ErrNotFound) && had:
			gone := func() bool { return !co.mirror.lives(key, old.Revision) }
			if co.awaits(wait, gone); !gone() && alone { // nothing is watched, or it hangs
				co.mirror.bury(key, old.Revision)
			}
		}
	}
}

// refreshTakers brings those up to date who have what a rule is about.
func (co *core) refreshTakers(ctx context.Context, e state.Entry) {
	list, err := readTakers(e)
	if err != nil {
		co.logger.Error("stored rule cannot be read", "key", e.Key, "err", err)
	}
	for _, t := range list {
		co.refresh(ctx, t.stored())
	}
}

// awaits waits until the watch has brought something, or ctx ends, upon which the next try loses
// again; false if nothing is watched.
func (co *core) awaits(ctx context.Context, there func() bool) bool {
	for {
		moved := co.mirror.moves()
		switch {
		case there():
			return true
		case !co.following.Load():
			return false
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return true
		}
	}
}
