package guard

import (
	"context"

	"rackboot/protocol"
	"rackboot/state"
)

// Store watches a store: guard mode begins where it fails, and until it is over nothing is
// written.
func (g *Guard) Store(db state.Store) state.Store { return &watched{g, db} }

type watched struct {
	guard *Guard
	db    state.Store
}

// View implements state.Store.
func (w *watched) View(fn func(state.Txn) error) error {
	c := &counted{}
	err := w.db.View(func(t state.Txn) error {
		c.begin(t)
		return fn(c)
	})
	w.look(c, err)
	return err
}

// Update implements state.Store.
func (w *watched) Update(fn func(state.Txn) error) error {
	c := &counted{}
	err := w.db.Update(w.guarded("store update", c, fn))
	w.look(c, err)
	return err
}

// Batch implements state.Store.
func (w *watched) Batch(ctx context.Context, fn func(state.Txn) error) error {
	if err := w.guard.refuses("store batch"); err != nil {
		return err // before it shares the transaction of others
	}
	c := &counted{}
	err := w.db.Batch(ctx, w.guarded("store batch", c, fn))
	if protocol.CodeOf(err) != protocol.CodeTimeout {
		w.look(c, err)
	}
	return err
}

// Close implements state.Store.
func (w *watched) Close() error { return w.db.Close() }

func (w *watched) guarded(op string, c *counted, fn func(state.Txn) error) func(state.Txn) error {
	return func(t state.Txn) error {
		c.begin(t)
		err := fn(c)
		if err == nil && c.wrote {
			err = w.guard.refuses(op)
		}
		c.refused = err
		return err
	}
}

// look begins guard mode where it was the store that failed.
func (w *watched) look(c *counted, err error) {
	if w.guard.Frozen() {
		return
	}
	switch {
	case c.failed != nil:
		w.guard.Begin(c.failed, false)
	case err == nil || c.ran && (c.refused != nil || !c.wrote):
	case protocol.CodeOf(err) == protocol.CodeUnavailable || protocol.CodeOf(err) == protocol.CodeInternal:
		w.guard.Begin(err, false)
	}
}

// counted is a transaction of which is known what the store did wrong in it. It is begun anew
// where its function runs again.
type counted struct {
	state.Txn
	ran, wrote bool
	refused    error // why the function did not want it to be committed
	failed     error
}

func (c *counted) begin(t state.Txn) { *c = counted{Txn: t, ran: true} }

func (c *counted) note(err error) error {
	if code := protocol.CodeOf(err); err != nil && (code == protocol.CodeUnavailable || code == protocol.CodeInternal) {
		c.failed = err
	}
	return err
}

// Get implements state.Txn.
func (c *counted) Get(key string) ([]byte, error) {
	v, err := c.Txn.Get(key)
	return v, c.note(err)
}

// Set implements state.Txn.
func (c *counted) Set(key string, value []byte) error {
	c.wrote = true
	return c.note(c.Txn.Set(key, value))
}

// Delete implements state.Txn.
func (c *counted) Delete(key string) error {
	c.wrote = true
	return c.note(c.Txn.Delete(key))
}

// Scan implements state.Txn.
func (c *counted) Scan(prefix string, fn func(key string, value []byte) error) error {
	var own error
	err := c.Txn.Scan(prefix, func(key string, value []byte) error {
		own = fn(key, value)
		return own
	})
	if own == nil {
		err = c.note(err)
	}
	return err
}
