package watch

import (
	"time"

	"rackboot/protocol/resource"
)

// board is what is known of the resources of one kind in one view, while somebody watches them.
type board struct {
	key     boardKey
	view    view
	entries map[string]*entry
	tombs   []tomb
	floor   uint64 // changes up to it are not known one by one any more
	watches map[*Watch]bool
	dirty   map[string]bool // to be looked at
	left    time.Time       // since when nobody watches; counts while nobody does
	lightAt time.Time       // when it was made lighter
}

// entry is what is known of one resource.
type entry struct {
	sum          string // empty where it is not known, so that the next look is news
	seq          uint64 // of its last change
	server, rack string
	place        place
	recent       *shown // what was made last, for watches that begin; nil once it is old
}

// place is what decides, beside what it says, who is told of a resource.
type place struct {
	at     where
	labels map[string]string
}

// tomb says that a resource went.
type tomb struct {
	name string
	seq  uint64
}

// mostTombs bounds the deletions of a kind that are known one by one.
const mostTombs = 10_000

func newBoard(kind resource.Kind, v view, seq uint64) *board {
	return &board{key: v.key(kind), view: v, left: time.Now(), entries: map[string]*entry{}, floor: seq, watches: map[*Watch]bool{}, dirty: map[string]bool{}}
}

// take notes what is shown of a resource now, as the change seq, and reports whether that is to be told: it is something
// else than before, or of one that came.
func (b *board) take(now *shown, seq uint64, came bool) bool {
	e := b.entries[now.name]
	if now.raw == nil {
		if e == nil {
			return false
		}
		delete(b.entries, now.name)
		b.bury(now.name, seq)
		return true
	}
	if e == nil {
		b.entries[now.name] = entryOf(now, seq)
		return true
	}
	if e.sum == now.sum && !came {
		return false
	}
	*e = *entryOf(now, seq)
	return true
}

func entryOf(now *shown, seq uint64) *entry {
	return &entry{sum: now.sum, seq: seq, server: now.server, rack: now.at.Rack, place: place{now.at, now.labels}, recent: now}
}

// unknown notes that a resource has changed while nobody watches: what it says now is found out when somebody asks.
func (b *board) unknown(name string, seq uint64) {
	e := b.entries[name]
	if e == nil {
		e = &entry{}
		b.entries[name] = e
	}
	e.sum, e.seq, e.recent = "", seq, nil
}

// note takes what a watch was shown that begins, where nothing was known: no other can have had anything else, but for
// a resource that has just come, of which all are told yet, and one that another passed over because it was not for him: he
// has to hear what it is now.
func (b *board) note(w *Watch, now *shown, seq uint64) bool {
	if e := b.entries[now.name]; e != nil {
		switch {
		case e.sum == now.sum:
			e.recent = now
		case e.sum == "" && len(b.watches) == 1 && !b.dirty[now.name]: // nobody else has had anything
			*e = *entryOf(now, e.seq)
		default: // who begins has something else than the others: the next look is told to all, also if it is as before
			e.sum, e.recent = "", nil
			b.dirty[now.name] = true
		}
		return false
	}
	b.entries[now.name] = entryOf(now, seq)
	for other := range b.watches {
		if other != w && other.passes {
			b.entries[now.name].sum, b.entries[now.name].recent = "", nil
			b.dirty[now.name] = true
			break
		}
	}
	return true
}

// recent is what was made last of a resource, if that is still what it says.
func (b *board) recent(name string) *shown {
	if e := b.entries[name]; e != nil && !b.dirty[name] && e.recent != nil && e.recent.sum == e.sum {
		return e.recent
	}
	return nil
}

func (b *board) bury(name string, seq uint64) {
	if len(b.tombs) >= mostTombs {
		half := len(b.tombs) / 2
		b.floor = b.tombs[half-1].seq
		b.tombs = append([]tomb(nil), b.tombs[half:]...)
	}
	b.tombs = append(b.tombs, tomb{name, seq})
}

// since are the names of what has changed or gone after a change, each once; false where that is not known.
func (b *board) since(seq uint64) (names []string, known bool) {
	if seq < b.floor {
		return nil, false
	}
	seen := map[string]bool{}
	for name, e := range b.entries {
		if e.seq > seq {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, t := range b.tombs {
		if t.seq > seq && !seen[t.name] {
			seen[t.name] = true
			names = append(names, t.name)
		}
	}
	return names, true
}

// recentFor is how long what was made is kept for watches that begin soon after.
const recentFor = 10 * time.Second

// lighten lets go of what was made longer ago.
func (b *board) lighten() {
	if time.Since(b.lightAt) < recentFor {
		return
	}
	b.lightAt = time.Now()
	for _, e := range b.entries {
		if e.recent != nil && time.Since(e.recent.when) > recentFor {
			e.recent = nil
		}
	}
}
