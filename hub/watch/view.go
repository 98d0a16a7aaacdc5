package watch

import (
	"encoding/json"
	"slices"
	"sync"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// mostViews bounds the boards that compare some fields only, of all kinds: each has an entry for each resource of its kind.
// Who asks for one more is told of all changes, also of those that he does not see.
const mostViews = 16

// view is what a board compares of resources.
type view struct {
	only selector.Only
	// placed says that where a resource is counts too, beside its rack: somebody selects by that, or may not see all.
	placed bool
}

// whole is the view of all that there is of a resource.
func whole() view { return view{placed: true} }

// viewOf is what is to be compared for somebody who asks: what he wants, and what decides whether he has it.
func viewOf(ask Ask, everywhere bool) view {
	if ask.Only.All() {
		return whole()
	}
	v := view{only: ask.Only.With(ask.Fields.Paths()...), placed: !everywhere || !ask.Labels.Empty()}
	if v.placed {
		v.only = v.only.With("metadata.labels")
	}
	if ask.Only.Wants("metadata.annotations") && resource.Reboots(resource.NewObject(ask.Kind)) != nil {
		v.only = v.only.With("status.reboots") // his own are shown as annotations
	}
	return v
}

// status says whether the view needs more than what is stored.
func (v view) status() bool { return v.only.Wants("status") }

// boardKey is which board it is.
type boardKey struct {
	kind   resource.Kind
	only   string
	placed bool
}

func (v view) key(kind resource.Kind) boardKey { return boardKey{kind, v.only.String(), v.placed} }

// of are the boards of a kind. It needs r.mu.
func (r *Room) of(kind resource.Kind) (out []*board) {
	for key, b := range r.boards {
		if key.kind == kind {
			out = append(out, b)
		}
	}
	return out
}

// board is the one for a view, made if there is none. Where there is no room for another view it is that of all. It needs
// r.mu.
func (r *Room) board(kind resource.Kind, v view) *board {
	if b := r.boards[v.key(kind)]; b != nil {
		return b
	}
	if !v.only.All() && !r.roomForView() {
		return r.board(kind, whole())
	}
	r.seq++ // nobody has looked at what changed before: no position of before is good
	b := newBoard(kind, v, r.seq)
	r.boards[b.key] = b
	return b
}

// roomForView reports whether there may be another view; the one that nobody has watched for longest goes for it.
func (r *Room) roomForView() bool {
	var left []*board
	n := 0
	for _, b := range r.boards {
		if b.view.only.All() {
			continue
		}
		if n++; len(b.watches) == 0 {
			left = append(left, b)
		}
	}
	if n < mostViews {
		return true
	}
	if len(left) == 0 {
		return false
	}
	delete(r.boards, slices.MinFunc(left, func(a, b *board) int { return a.left.Compare(b.left) }).key)
	return true
}

// cut is what is shown of a resource in a view.
func (m *made) cut(v view) (*shown, error) {
	const op = "watch"
	out := &shown{made: m, raw: m.raw}
	settled := m.settled
	if !v.only.All() {
		var err error
		if out.raw, err = v.only.Of(m.raw); err != nil {
			return nil, err
		}
		if settled, err = v.only.Of(m.settled); err != nil {
			return nil, err
		}
	}
	raw := out.raw
	out.plain = sync.OnceValues(func() (any, error) { return selector.Plain(raw) })
	out.digest = digestOf(settled, []byte(m.at.Rack))
	if out.sum = out.digest; v.placed {
		at, err := json.Marshal(m.at)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		out.sum = digestOf(settled, at)
	}
	out.line = lineOf(protoapi.WatchEvent{Type: protoapi.WatchPut, Name: m.name, Object: out.raw, Rack: m.at.Rack, Digest: out.digest})
	return out, nil
}
