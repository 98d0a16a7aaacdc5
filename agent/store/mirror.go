package store

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/state"
)

// mirror is in memory what an Overview is made of, decoded. It follows each transaction by
// what that wrote, so that nobody reads the whole store again for one document.
type mirror struct {
	mu    sync.RWMutex
	whole bool // false: it is to be read from the store
	// joins says that the agent has joined to stand by, and that this could not be written.
	joins bool
	mirrorOfDisk
}

// mirrorOfDisk is what was last read, or written.
type mirrorOfDisk struct {
	rack     message.RackIntent
	synced   bool
	replaced bool
	ended    bool
	standby  bool // by the hold document, or by joining
	aside    asides
	intents  map[string]Intent // by key, as the others
	holds    map[string]decide.Hold
	standing map[string]Standing
}

// Standing is what of a server's record concerns others than its own loop.
type Standing struct {
	Server     string
	Attempt    *decide.Attempt
	Medium     *decide.Medium
	Orders     decide.Orders
	Unexpected bool // it came on without an order
	Start      decide.Start
	Pace       decide.Pace
	UUID       string // that its BMC shows, of the trusted identity
}

// StandingOf is what of a record concerns others.
func StandingOf(r decide.Record) Standing {
	s := Standing{
		Server: r.Server, Attempt: r.Attempt, Medium: r.Residue.Medium(), Orders: r.Orders(), Unexpected: r.Unexpected != nil,
		Start: r.Start(), Pace: r.Pace,
	}
	if r.Identity != nil {
		s.UUID = r.Identity.Trusted.UUID
	}
	return s
}

// watched notes what a transaction writes of what the mirror or the guard set has.
type watched struct {
	state.Txn
	views   *views
	changes []write
}

// Set implements state.Txn.
func (w *watched) Set(key string, value []byte) error {
	w.views.touch(key)
	if guarded(key) {
		w.changes = append(w.changes, write{key, append([]byte{}, value...)})
	}
	return w.Txn.Set(key, value)
}

// Delete implements state.Txn.
func (w *watched) Delete(key string) error {
	w.views.touch(key)
	if guarded(key) {
		w.changes = append(w.changes, write{key, nil})
	}
	return w.Txn.Delete(key)
}

// mirrored says whether the mirror has a key. All that it has is guarded too.
func mirrored(key string) bool {
	switch key {
	case keyRack, keyReplaced, keyEnded, keyStandby, keyAside, keyIncarnation:
		return true
	}
	return strings.HasPrefix(key, keyIntents) || strings.HasPrefix(key, keyHolds) || strings.HasPrefix(key, keyRecords)
}

// forget has the mirror read from the store before it is used again.
func (m *mirror) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.whole = false
}

// said is what it has of the rack, if it has it.
func (m *mirror) said() (rack message.RackIntent, as stance, have bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.rack, m.stance(), m.whole
}

// take follows a transaction that is on disk.
func (m *mirror) take(changes []write) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.whole {
		return
	}
	for _, c := range changes {
		if !mirrored(c.key) {
			continue
		}
		if err := m.put(c); err != nil {
			m.whole = false // the read says what is wrong
			return
		}
	}
}

// put needs m.mu.
func (m *mirror) put(w write) (err error) {
	switch w.key {
	case keyRack:
		m.rack, m.synced = message.RackIntent{}, w.value != nil
		if m.synced {
			m.rack, err = decode[message.RackIntent](w.key, w.value)
		}
		return err
	case keyReplaced:
		m.replaced = false
		if w.value != nil {
			m.replaced, err = decode[bool](w.key, w.value)
		}
		return err
	case keyEnded:
		m.ended = w.value != nil
		return nil
	case keyStandby:
		m.standby = w.value != nil
		return nil
	case keyAside, keyIncarnation:
		return m.aside.put(w)
	}
	switch {
	case strings.HasPrefix(w.key, keyIntents):
		return mirrorOne(m.intents, w)
	case strings.HasPrefix(w.key, keyHolds):
		return mirrorOne(m.holds, w)
	case w.value == nil:
		delete(m.standing, w.key)
		return nil
	}
	r, err := decode[decide.Record](w.key, w.value)
	m.standing[w.key] = StandingOf(r)
	return err
}

func mirrorOne[T any](m map[string]T, w write) error {
	if w.value == nil {
		delete(m, w.key)
		return nil
	}
	v, err := decode[T](w.key, w.value)
	m[w.key] = v
	return err
}

// read reads all of it from a transaction that sees what is on disk. Where that fails, what was there stays: an agent
// without its store guards by it.
func (m *mirror) read(t state.Txn) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.mirrorOfDisk
	err := m.readAll(t)
	if m.whole = err == nil; err != nil {
		m.mirrorOfDisk = was
	}
	return err
}

// readAll needs m.mu.
func (m *mirror) readAll(t state.Txn) error {
	m.rack, m.synced, m.replaced, m.ended, m.standby = message.RackIntent{}, false, false, false, false
	if err := m.aside.read(t); err != nil {
		return err
	}
	m.intents, m.holds, m.standing = map[string]Intent{}, map[string]decide.Hold{}, map[string]Standing{}
	take := func(key string, raw []byte) error { return m.put(write{key, raw}) }
	for _, key := range []string{keyRack, keyReplaced, keyEnded, keyStandby} {
		raw, found, err := get[json.RawMessage](t, key)
		if err != nil {
			return err
		}
		if found {
			if err := take(key, raw); err != nil {
				return err
			}
		}
	}
	for _, prefix := range []string{keyIntents, keyHolds, keyRecords} {
		if err := t.Scan(prefix, take); err != nil {
			return err
		}
	}
	return nil
}

// stance is whether this agent may act on the rack's intent.
type stance struct {
	serves bool // it has one, was not replaced, and its term is not over
	aside  bool // but only as holds want: another agent has the same disk
	over   bool // its term is over, or the other agent goes on
	// standby is that it stands by for another agent, and does not even guard holds.
	standby bool
}

func stanceOf(synced, replaced, ended, standby bool, aside decide.AsideStanding) stance {
	over := ended || aside == decide.AsideSuperseded
	return stance{synced && !replaced && !over && !standby, !standby && (aside == decide.AsideStands || aside == decide.AsideTaken), over, standby}
}

func (m *mirror) stance() stance {
	return stanceOf(m.synced, m.replaced, m.ended, m.standby || m.rack.Standby || m.joins, m.aside.standing())
}

// joined notes whether the agent has joined to stand by although it is not on disk.
func (m *mirror) joined(joins bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joins = joins
}

// standbyOn is whether the agent stands by, by what is on disk, and by how it joined.
func (m *mirror) standbyOn(t state.Txn, rack message.RackIntent) (bool, error) {
	m.mu.RLock()
	joins := m.joins
	m.mu.RUnlock()
	_, standby, err := get[bool](t, keyStandby)
	return standby || rack.Standby || joins, err
}

func inOrder[T any](m map[string]T) []T {
	out := make([]T, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[key])
	}
	return out
}
