package faults

import (
	"encoding/json"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/decide"
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
	protocol.ServerIntent
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
				return keep(f.holds, value, func(h decide.Hold) string { return h.ID })
			case "intent":
				return keep(f.intents, value, func(i intent) string { return i.Server })
			case "record":
				return keep(f.records, value, func(r decide.Record) string { return r.Server })
			}
			return nil
		})
	})
	if err != nil {
		a.site.t.Errorf("the disk of %s: %v", a.name, err)
	}
	return f
}

func keep[T any](m map[string]T, raw []byte, name func(T) string) error {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	m[name(v)] = v
	return nil
}
