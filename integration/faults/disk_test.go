package faults

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/state"
)

// found is what lies on an agent's disk, read as the table in agent/store says and
// without its code.
type found struct {
	incarnation string
	events      uint64                   // number of the last event
	heads       map[string]protocol.Head // by document
	holds       map[string]decide.Hold   // by id
	intents     map[string]intent
	records     map[string]decide.Record
}

type intent struct {
	message.ServerIntent
	Missing bool `json:"missing"`
}

func (a *agent) found() found {
	f := found{heads: map[string]protocol.Head{}, holds: map[string]decide.Hold{}, intents: map[string]intent{}, records: map[string]decide.Record{}}
	err := a.disk.Load().Copy().View(func(t state.Txn) error {
		return t.Scan("", func(key string, value []byte) error {
			kind, name, _ := strings.Cut(key, "/")
			switch kind {
			case "meta":
				switch name {
				case "incarnation":
					f.incarnation = string(value)
				case "event":
					return json.Unmarshal(value, &f.events)
				}
			case "doc":
				var m struct{ Head protocol.Head }
				if err := json.Unmarshal(value, &m); err != nil {
					return err
				}
				f.heads[name] = m.Head
			case "hold":
				return keep(&a.read, f.holds, key, value, func(h decide.Hold) string { return h.ID })
			case "intent":
				return keep(&a.read, f.intents, key, value, func(i intent) string { return i.Server })
			case "record":
				return keep(&a.read, f.records, key, value, func(r decide.Record) string { return r.Server })
			}
			return nil
		})
	})
	if err != nil {
		a.site.t.Errorf("the disk of %s: %v", a.name, err)
	}
	return f
}

// readings are what the values of a disk say, for as long as they are the same: all of them
// are looked at after every step. What they say is for reading only.
type readings struct {
	mu sync.Mutex
	by map[string]reading // by key
}

type reading struct {
	raw  []byte
	says any
}

func keep[T any](r *readings, m map[string]T, key string, raw []byte, name func(T) string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.by[key]
	v, ok := was.says.(T)
	if !ok || !bytes.Equal(was.raw, raw) {
		var anew T
		if err := json.Unmarshal(raw, &anew); err != nil {
			return err
		}
		if r.by == nil {
			r.by = map[string]reading{}
		}
		v, r.by[key] = anew, reading{slices.Clone(raw), anew}
	}
	m[name(v)] = v
	return nil
}
