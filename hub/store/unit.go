package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state"
)

// Unit is what one of several hubs works: a rack, as rack/NAME, or the site.
type Unit struct {
	Name string `json:"-"`
	// Owner is the start of the hub that works it, with a number that rises whenever the unit goes to another one.
	Owner message.Fence `json:"owner"`
	// Since is when that hub took it, by its clock, and Before the name of the hub that had it, empty where it is not known.
	// Both are for people.
	Since    time.Time `json:"since,omitzero"`
	Before   string    `json:"before,omitempty"`
	Revision uint64    `json:"-"` // for compare-and-set; 0 creates
}

// Units says which hub works what. One that is alone on its store uses none of it.
type Units struct{ core *core }

func unitKey(unit string) string { return unitBucket + "." + strings.ReplaceAll(unit, "/", ".") }

// Share says that other hubs write to the store besides, before they do.
func (us *Units) Share() { us.core.several.Store(true) }

// Get returns a unit; one that nobody ever worked has no owner. The code is internal.
func (us *Units) Get(name string) (Unit, error) {
	e, ok := us.core.mirror.get(unitKey(name))
	if !ok {
		return Unit{Name: name}, nil
	}
	return unitOf(name, e.Entry)
}

// Came reports whether the watch has brought a unit as it was read, with all that was written before it: one's own write is
// here at once.
func (us *Units) Came(u Unit) bool { return us.core.mirror.position() >= u.Revision }

// Newest is Get of the store itself, where the mirror may be behind. The codes are internal, unavailable and timeout.
func (us *Units) Newest(ctx context.Context, name string) (Unit, error) {
	e, err := us.core.kv.Get(ctx, unitKey(name))
	switch {
	case errors.Is(err, state.ErrNotFound):
		return Unit{Name: name}, nil
	case err != nil:
		return Unit{}, stateError("read a unit", err)
	}
	return unitOf(name, e)
}

func unitOf(name string, e state.Entry) (Unit, error) {
	u := Unit{Name: name, Revision: e.Revision}
	if err := json.Unmarshal(e.Value, &u); err != nil {
		return Unit{}, protocol.Errorf(protocol.CodeInternal, "read a unit", "%q: %w", e.Key, err)
	}
	return u, nil
}

// Put writes a unit, compare-and-set on its revision, which it updates. The codes are conflict, unavailable and timeout.
func (us *Units) Put(ctx context.Context, u *Unit) error {
	const op = "put a unit"
	value, err := json.Marshal(u)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	revision, err := us.core.put(ctx, unitKey(u.Name), value, u.Revision)
	if err != nil {
		return stateError(op, err)
	}
	u.Revision = revision
	return nil
}

type underKey struct{}

type under struct{ unit, run string }

// Under has every write of a context expect that the unit's owner is a start of a hub: it fails with unavailable, and
// writes nothing, once another hub has taken the unit, however much later the write comes.
func Under(ctx context.Context, unit, run string) context.Context {
	return context.WithValue(ctx, underKey{}, under{unit, run})
}

// expects is the check that the writes of a context come with; its Key is empty where they come with none.
func (co *core) expects(ctx context.Context) (state.Op, error) {
	is, there := ctx.Value(underKey{}).(under)
	if !there {
		return state.Op{}, nil
	}
	u, err := (&Units{co}).Get(is.unit)
	if err != nil {
		return state.Op{}, err
	}
	if u.Owner.Hub != is.run {
		return state.Op{}, protocol.Errorf(protocol.CodeUnavailable, "write to the store", "another hub works %s now", is.unit)
	}
	return state.Op{Kind: state.OpCheck, Key: unitKey(is.unit), Revision: u.Revision}, nil
}
