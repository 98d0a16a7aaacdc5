package copytest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"rackboot/protocol"
	"rackboot/state"
)

// Stream is one in memory; its zero value is empty. It is safe for concurrent use.
type Stream struct {
	mu      sync.Mutex
	records []state.Record
	fail    func(call string) error
	reads   int
}

// ErrLags of what Fail was given has a Read give nothing though there is something.
var ErrLags = errors.New("the copy that is read lags behind")

// ErrLost of what Fail was given has an Append store its record, and its answer be lost.
var ErrLost = errors.New("the answer is lost")

// Fail has calls fail from now on: it is asked with the name of each, in lower case. Nil fails none.
func (m *Stream) Fail(fail func(call string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

// Call says whether a call fails.
func (m *Stream) Call(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.call(name)
}

func (m *Stream) call(name string) error {
	if m.fail == nil {
		return nil
	}
	return m.fail(name)
}

// Reads counts the calls of Read.
func (m *Stream) Reads() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads
}

// Put writes a record as somebody who knows nothing of the last one.
func (m *Stream) Put(hub string, data []byte) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(hub, data)
}

// Of are the records of a hub.
func (m *Stream) Of(hub string) []state.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(hub, 0)
}

// Remove takes records away, as an operator does who purges.
func (m *Stream) Remove(which func(state.Record) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = slices.DeleteFunc(m.records, which)
}

// Append implements the stream, as all below do.
func (m *Stream) Append(_ context.Context, hub string, data []byte, after uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.call("append")
	if err != nil && !errors.Is(err, ErrLost) {
		return 0, err
	}
	last := uint64(0)
	for _, r := range m.records {
		if r.Subject == hub {
			last = r.Seq
		}
	}
	if last != after {
		return 0, protocol.Errorf(protocol.CodeConflict, "append", "%w", state.ErrConflict)
	}
	return m.add(hub, data), err
}

func (m *Stream) add(hub string, data []byte) uint64 {
	seq := uint64(1)
	if n := len(m.records); n > 0 {
		seq = m.records[n-1].Seq + 1
	}
	m.records = append(m.records, state.Record{Seq: seq, Subject: hub, Data: slices.Clone(data)})
	return seq
}

func (m *Stream) of(hub string, from uint64) (out []state.Record) {
	for _, r := range m.records {
		if r.Subject == hub && r.Seq >= from {
			out = append(out, r)
		}
	}
	return out
}

func one(list []state.Record, i int) (state.Record, error) {
	if len(list) == 0 {
		return state.Record{}, protocol.Errorf(protocol.CodeNotFound, "get", "%w", state.ErrNotFound)
	}
	return list[max(i, 0)], nil
}

// Last is the last record of a hub.
func (m *Stream) Last(_ context.Context, hub string) (state.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("last"); err != nil {
		return state.Record{}, err
	}
	list := m.of(hub, 0)
	return one(list, len(list)-1)
}

// Next is the next record of a hub.
func (m *Stream) Next(_ context.Context, hub string, from uint64) (state.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("next"); err != nil {
		return state.Record{}, err
	}
	return one(m.of(hub, from), 0)
}

// Read gives records of a hub.
func (m *Stream) Read(_ context.Context, hub string, from uint64, limit int) ([]state.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if err := m.call("read"); err != nil {
		if errors.Is(err, ErrLags) {
			return nil, nil
		}
		return nil, err
	}
	list := m.of(hub, from)
	return list[:min(limit, len(list))], nil
}

// Writers are the hubs with records.
func (m *Stream) Writers(context.Context) (out []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		out = append(out, r.Subject)
	}
	slices.Sort(out)
	return slices.Compact(out), m.call("writers")
}

// Newest is the sequence of the newest record.
func (m *Stream) Newest(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.records) == 0 {
		return 0, m.call("newest")
	}
	return m.records[len(m.records)-1].Seq, m.call("newest")
}
