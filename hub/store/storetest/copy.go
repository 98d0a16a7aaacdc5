package storetest

import (
	"cmp"
	"maps"
	"slices"

	"rackboot/state"
)

// Copy is another Memory with what is stored in this one: a disk that a dead hub
// leaves behind, or a backup of a living one's.
func (m *Memory) Copy() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Memory{
		revision: m.revision, newest: maps.Clone(m.newest), deleted: maps.Clone(m.deleted), buried: maps.Clone(m.buried), floor: m.floor, changed: make(chan struct{}),
		records: slices.Clone(m.records), appended: m.appended, ids: maps.Clone(m.ids),
	}
	for _, e := range c.newest { // a watch begins where a List ended, so only the order matters
		c.history = append(c.history, written{entries: []state.Entry{e}})
	}
	slices.SortFunc(c.history, func(a, b written) int { return cmp.Compare(a.entries[0].Revision, b.entries[0].Revision) })
	return c
}
