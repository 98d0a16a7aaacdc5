package storetest

import (
	"context"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

// Memory is a [state.KV] and [state.Log] that keeps nothing. It honours
// compare-and-set, List and Watch. Two stores may share one.
type Memory struct {
	mu       sync.Mutex
	revision uint64
	newest   map[string]state.Entry // of each key, which may be a deletion
	deleted  map[string]time.Time   // of a key that is not there, since when
	buried   map[string]state.Entry // of a key that is not there, its last value
	floor    uint64                 // revision of the newest deletion that was forgotten
	history  []written
	changed  chan struct{} // closed and replaced at each change
	records  []state.Record
	appended uint64 // Seq of the newest record
	ids      map[string]uint64
	// BeforeWrite is asked before each write of a key; its error is the write's, and that of the
	// whole commit.
	BeforeWrite func(key string) error
	// AfterAppend is called when a record of the log is there, before the one who appends
	// it is told; its error is what that one is told.
	AfterAppend func(seq uint64) error
}

// written is what was written at once.
type written struct {
	entries   []state.Entry
	forgotten uint64 // the newest revision of it that is missing because its key was forgotten
}

// NewMemory makes an empty Memory.
func NewMemory() *Memory {
	return &Memory{newest: map[string]state.Entry{}, deleted: map[string]time.Time{}, buried: map[string]state.Entry{}, changed: make(chan struct{}), ids: map[string]uint64{}}
}

// Get implements state.KV.
func (m *Memory) Get(_ context.Context, key string) (state.Entry, error) {
	const op = "kv get"
	if err := state.CheckKey(op, key); err != nil {
		return state.Entry{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.newest[key]
	if !ok || e.Deleted {
		return state.Entry{}, protocol.Errorf(protocol.CodeNotFound, op, "%s: %w", key, state.ErrNotFound)
	}
	return e, nil
}

// Buried implements state.KV.
func (m *Memory) Buried(_ context.Context, key string) (state.Entry, error) {
	const op = "kv buried"
	if err := state.CheckKey(op, key); err != nil {
		return state.Entry{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	was, ok := m.buried[key]
	if !ok {
		return state.Entry{}, protocol.Errorf(protocol.CodeNotFound, op, "%s: %w", key, state.ErrNotFound)
	}
	return was, nil
}

// Create implements state.KV.
func (m *Memory) Create(_ context.Context, key string, value []byte) (uint64, error) {
	return m.one(state.Op{Kind: state.OpCreate, Key: key, Value: value})
}

// Update implements state.KV.
func (m *Memory) Update(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	return m.one(state.Op{Kind: state.OpUpdate, Key: key, Value: value, Revision: revision})
}

// Delete implements state.KV.
func (m *Memory) Delete(_ context.Context, key string, revision uint64) error {
	_, err := m.one(state.Op{Kind: state.OpDelete, Key: key, Revision: revision})
	return err
}

func (m *Memory) one(o state.Op) (uint64, error) {
	revisions, err := m.write("kv "+string(o.Kind), []state.Op{o})
	if err != nil {
		return 0, err
	}
	return revisions[0], nil
}

// Commit implements state.KV.
func (m *Memory) Commit(_ context.Context, ops []state.Op) ([]uint64, error) {
	return m.write("kv commit", ops)
}

func (m *Memory) write(op string, ops []state.Op) ([]uint64, error) {
	if err := state.CheckOps(op, ops); err != nil {
		return nil, err
	}
	for _, o := range ops {
		if m.BeforeWrite != nil && o.Kind != state.OpCheck {
			if err := m.BeforeWrite(o.Key); err != nil {
				return nil, err
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var stale []string
	for _, o := range ops {
		e := m.newest[o.Key]
		if absent := o.Revision == 0 && e.Deleted; !absent && o.Revision != e.Revision {
			stale = append(stale, o.Key)
		}
	}
	if len(stale) > 0 {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "%w", &state.ConflictError{Keys: stale})
	}
	revisions := make([]uint64, len(ops))
	var change []state.Entry
	for i, o := range ops {
		if o.Kind == state.OpCheck {
			continue
		}
		m.revision++
		e := state.Entry{Key: o.Key, Value: o.Value, Revision: m.revision, Deleted: o.Kind == state.OpDelete}
		was := m.newest[o.Key]
		m.newest[o.Key], revisions[i] = e, m.revision
		change = append(change, e)
		delete(m.buried, o.Key)
		if delete(m.deleted, o.Key); e.Deleted {
			m.deleted[o.Key], m.buried[o.Key] = time.Now(), was
		}
	}
	m.history = append(m.history, written{entries: change})
	close(m.changed)
	m.changed = make(chan struct{})
	return revisions, nil
}

// List implements state.KV.
func (m *Memory) List(_ context.Context, prefix string) ([]state.Entry, uint64, error) {
	if err := state.CheckPrefix("kv list", prefix); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []state.Entry
	for key, e := range m.newest {
		if strings.HasPrefix(key, prefix) && !e.Deleted {
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out, m.revision, nil
}

// Watch implements state.KV.
func (m *Memory) Watch(ctx context.Context, prefix string, after uint64) (<-chan []state.Entry, error) {
	const op = "kv watch"
	if err := state.CheckPrefix(op, prefix); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if after > m.revision {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "revision %d is ahead of the store, which is at %d: %w", after, m.revision, state.ErrConflict)
	}
	if after < m.floor {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "deletions up to revision %d are forgotten, and the reader is at %d: %w", m.floor, after, state.ErrConflict)
	}
	out := make(chan []state.Entry)
	go func() {
		defer close(out)
		for next := 0; ; {
			m.mu.Lock()
			batch, changed := m.history[next:], m.changed
			m.mu.Unlock()
			for _, w := range batch {
				if w.forgotten > after {
					return
				}
				change := slices.DeleteFunc(slices.Clone(w.entries), func(e state.Entry) bool {
					return e.Revision <= after || !strings.HasPrefix(e.Key, prefix)
				})
				if len(change) == 0 {
					continue
				}
				select {
				case out <- change:
				case <-ctx.Done():
					return
				}
			}
			next += len(batch)
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// Forget implements state.KV.
func (m *Memory) Forget(_ context.Context, before time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := map[string]uint64{}
	for key, at := range m.deleted {
		if at.Before(before) && len(gone) < state.MaxForget {
			gone[key] = m.newest[key].Revision
		}
	}
	for key, revision := range gone {
		delete(m.newest, key)
		delete(m.deleted, key)
		delete(m.buried, key)
		m.floor = max(m.floor, revision)
	}
	history := make([]written, len(m.history)) // who follows has the former one
	for i, w := range m.history {
		for _, e := range w.entries {
			if e.Revision <= gone[e.Key] {
				w.forgotten = max(w.forgotten, e.Revision)
			}
		}
		w.entries = slices.DeleteFunc(slices.Clone(w.entries), func(e state.Entry) bool { return e.Revision <= gone[e.Key] })
		history[i] = w
	}
	m.history = history
	return len(gone), nil
}

// Append implements state.Log.
func (m *Memory) Append(_ context.Context, subject string, data []byte, id string) (uint64, error) {
	seq := m.append(subject, data, id)
	if m.AfterAppend != nil {
		if err := m.AfterAppend(seq); err != nil {
			return 0, err
		}
	}
	return seq, nil
}

// AppendAfter implements state.Log.
func (m *Memory) AppendAfter(_ context.Context, subject string, data []byte, last uint64) (uint64, error) {
	m.mu.Lock()
	newest := uint64(0)
	for _, r := range slices.Backward(m.records) {
		if r.Subject == subject {
			newest = r.Seq
			break
		}
	}
	if newest != last {
		m.mu.Unlock()
		return 0, protocol.Errorf(protocol.CodeConflict, "log append", "%s: after %d, not %d: %w", subject, newest, last, state.ErrConflict)
	}
	m.appended++
	seq := m.appended
	m.records = append(m.records, state.Record{Seq: seq, Subject: subject, Data: data, At: time.Now()})
	m.mu.Unlock()
	if m.AfterAppend != nil {
		if err := m.AfterAppend(seq); err != nil {
			return 0, err
		}
	}
	return seq, nil
}

func (m *Memory) append(subject string, data []byte, id string) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq, ok := m.ids[id]; ok && id != "" {
		return seq
	}
	m.appended++
	seq := m.appended
	m.records = append(m.records, state.Record{Seq: seq, Subject: subject, Data: data, At: time.Now()})
	if id != "" {
		m.ids[id] = seq
	}
	return seq
}

// Read implements state.Log.
func (m *Memory) Read(_ context.Context, subject string, from uint64, limit int) ([]state.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []state.Record
	for _, r := range m.records {
		if r.Seq >= from && (subject == "" || r.Subject == subject) && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, nil
}

// Tail implements state.Log.
func (m *Memory) Tail(ctx context.Context, subject string, limit int) ([]state.Record, error) {
	out, err := m.Read(ctx, subject, 1, math.MaxInt)
	return out[max(0, len(out)-limit):], err
}

// Cut implements state.Log.
func (m *Memory) Cut(ctx context.Context, subject string, upTo uint64) error {
	newest, err := m.Tail(ctx, subject, 1)
	if err != nil || len(newest) == 0 {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = slices.DeleteFunc(slices.Clone(m.records), func(r state.Record) bool {
		return r.Subject == subject && r.Seq <= min(upTo, newest[0].Seq-1)
	})
	return nil
}

// Size implements state.Log. A disk keeps some bytes more with each record.
func (m *Memory) Size(context.Context) (size uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		size += uint64(len(r.Subject) + len(r.Data) + 50)
	}
	return size, nil
}
