package store

import (
	"context"
	"errors"

	"rackboot/state"
)

// put is the one way that a key alone is written: compare-and-set at revision (0 is
// create), then the mirror. Several keys are written by commit.
func (co *core) put(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := co.healthy(); err != nil {
		return 0, err
	}
	check, err := co.expects(ctx)
	if err != nil {
		return 0, err
	}
	if check.Key != "" {
		revisions, err := co.commit(ctx, []state.Op{write(key, value, revision)})
		if err != nil {
			return 0, err
		}
		return revisions[0], nil
	}
	co.haste.GiveWay(ctx)
	var next uint64
	if revision == 0 {
		next, err = co.kv.Create(ctx, key, value)
	} else {
		next, err = co.kv.Update(ctx, key, value, revision)
	}
	if errors.Is(err, state.ErrConflict) {
		co.refresh(ctx, key)
	}
	if err != nil {
		return 0, err
	}
	co.mirror.apply(co.readLogged(state.Entry{Key: key, Value: value, Revision: next}))
	return next, nil
}

func (co *core) remove(ctx context.Context, key string, revision uint64) error {
	if err := co.healthy(); err != nil {
		return err
	}
	check, err := co.expects(ctx)
	if err != nil {
		return err
	}
	if check.Key != "" {
		_, err := co.commit(ctx, []state.Op{{Kind: state.OpDelete, Key: key, Revision: revision}})
		return err
	}
	co.haste.GiveWay(ctx)
	err = co.kv.Delete(ctx, key, revision)
	if errors.Is(err, state.ErrConflict) {
		co.refresh(ctx, key)
	}
	if err != nil {
		return err
	}
	co.mirror.bury(key, revision)
	return nil
}

// readLogged is read for entries that cannot be refused; one that cannot be
// read is logged once, here, and is in no list.
func (co *core) readLogged(e state.Entry) cached {
	c, err := co.read(e)
	if err != nil {
		co.logger.Error("stored resource cannot be read", "key", e.Key, "err", err)
	}
	return c
}
