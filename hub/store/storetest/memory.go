package storetest

import (
	"context"
	"sort"
	"strings"
	"sync"

	"rackboot/state"
)

// Memory is a [state.KV] and [state.Log] that keeps nothing. It honours
// compare-and-set, List and Watch. Two stores may share one.
type Memory struct {
	mu       sync.Mutex
	revision uint64
	live     map[string]state.Entry
	history  []state.Entry
	changed  chan struct{} // closed and replaced at each change
	records  []state.Record
	ids      map[string]uint64
	// BeforeWrite is asked before each write of a key; its error is the write's.
	BeforeWrite func(key string) error
	// AfterAppend is called when a record of the log is there, before the one who appends
	// it is told; its error is what that one is told.
	AfterAppend func(seq uint64) error
}

// NewMemory makes an empty Memory.
func NewMemory() *Memory {
	return &Memory{live: map[string]state.Entry{}, changed: make(chan struct{}), ids: map[string]uint64{}}
}

// Get implements state.KV.
func (m *Memory) Get(_ context.Context, key string) (state.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.live[key]
	if !ok {
		return state.Entry{}, state.ErrNotFound
	}
	return e, nil
}

// Create implements state.KV.
func (m *Memory) Create(_ context.Context, key string, value []byte) (uint64, error) {
	return m.write(state.Entry{Key: key, Value: value}, 0)
}

// Update implements state.KV.
func (m *Memory) Update(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if revision == 0 {
		return 0, state.ErrConflict
	}
	return m.write(state.Entry{Key: key, Value: value}, revision)
}

// Delete implements state.KV.
func (m *Memory) Delete(_ context.Context, key string, revision uint64) error {
	if revision == 0 {
		return state.ErrConflict
	}
	_, err := m.write(state.Entry{Key: key, Deleted: true}, revision)
	return err
}

func (m *Memory) write(e state.Entry, revision uint64) (uint64, error) {
	if m.BeforeWrite != nil {
		if err := m.BeforeWrite(e.Key); err != nil {
			return 0, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[e.Key].Revision != revision {
		return 0, state.ErrConflict
	}
	m.revision++
	e.Revision = m.revision
	if e.Deleted {
		delete(m.live, e.Key)
	} else {
		m.live[e.Key] = e
	}
	m.history = append(m.history, e)
	close(m.changed)
	m.changed = make(chan struct{})
	return e.Revision, nil
}

// List implements state.KV.
func (m *Memory) List(_ context.Context, prefix string) ([]state.Entry, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []state.Entry
	for key, e := range m.live {
		if strings.HasPrefix(key, prefix) {
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out, m.revision, nil
}

// Watch implements state.KV.
func (m *Memory) Watch(ctx context.Context, prefix string, after uint64) (<-chan state.Entry, error) {
	out := make(chan state.Entry)
	go func() {
		defer close(out)
		for next := 0; ; {
			m.mu.Lock()
			batch, changed := m.history[next:], m.changed
			m.mu.Unlock()
			for _, e := range batch {
				if e.Revision <= after || !strings.HasPrefix(e.Key, prefix) {
					continue
				}
				select {
				case out <- e:
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

func (m *Memory) append(subject string, data []byte, id string) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq, ok := m.ids[id]; ok && id != "" {
		return seq
	}
	seq := uint64(len(m.records) + 1)
	m.records = append(m.records, state.Record{Seq: seq, Subject: subject, Data: data})
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
