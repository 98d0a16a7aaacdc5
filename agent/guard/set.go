package guard

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"rackboot/protocol"
)

// setVersion is the version of the layout; a newer one is not read.
const setVersion = 1

// Set is the guard set. Values are as the store keeps them under their keys.
type Set struct {
	Version int    `json:"version"`
	Agent   string `json:"agent"`
	// Incarnations are those that the store may have: its own, and one that it was about to take.
	Incarnations []string `json:"incarnations,omitempty"`
	// Shared are values that are not of one server, by key.
	Shared  map[string]json.RawMessage `json:"shared,omitempty"`
	Servers map[string]Server          `json:"servers,omitempty"`
}

// Server is what is needed of a held server.
type Server struct {
	// Intent says how to reach it; empty where no document has named it.
	Intent json.RawMessage `json:"intent,omitempty"`
	// BMC is its name, Secret and Account what the store keeps of its credentials, encrypted.
	BMC     string          `json:"bmc,omitempty"`
	Secret  json.RawMessage `json:"secret,omitempty"`
	Account json.RawMessage `json:"account,omitempty"`
	// Record is which machine it is known to be.
	Record json.RawMessage `json:"record,omitempty"`
	Holds  map[string]Hold `json:"holds"`
	// Proved are the holds under which it was proved off.
	Proved []string `json:"proved,omitempty"`
}

// Hold is a hold as the store keeps it.
type Hold struct {
	Value json.RawMessage `json:"value"`
	// Coming is set while it is not known to be in the store.
	Coming bool `json:"coming,omitempty"`
}

// Parse reads a guard set. It fails for what this release cannot read.
func Parse(data []byte) (Set, error) {
	const op = "read the guard set"
	var s Set
	if err := json.Unmarshal(data, &s); err != nil {
		return Set{}, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	switch {
	case s.Version > setVersion:
		return Set{}, protocol.Errorf(protocol.CodeUnsupported, op, "it has version %d; this release knows up to %d", s.Version, setVersion).
			WithHint("start the release that wrote it, or a newer one")
	case s.Version < 1 || s.Agent == "":
		return Set{}, protocol.Errorf(protocol.CodeInternal, op, "version %d, agent %q: it is none", s.Version, s.Agent)
	}
	for name, v := range s.Servers {
		for id, h := range v.Holds {
			if len(h.Value) == 0 || string(h.Value) == "null" { // nobody writes one that says nothing
				return Set{}, protocol.Errorf(protocol.CodeInternal, op, "hold %q of server %q has no value", id, name)
			}
		}
	}
	return s, nil
}

// encode writes it in one way.
func (s Set) encode() ([]byte, error) {
	s.Version = setVersion
	return json.Marshal(s)
}

func (s Set) clone() Set {
	s.Incarnations, s.Shared, s.Servers = slices.Clone(s.Incarnations), maps.Clone(s.Shared), maps.Clone(s.Servers)
	if s.Shared == nil {
		s.Shared = map[string]json.RawMessage{}
	}
	if s.Servers == nil {
		s.Servers = map[string]Server{}
	}
	return s
}

// carried is what a new store takes over: the holds, which are coming to it, and how their servers
// are reached. It is of no store.
func (s Set) carried(agent string) Set {
	next := Set{Version: setVersion, Agent: agent}.clone()
	for name, v := range s.Servers {
		holds := map[string]Hold{}
		for id, h := range v.Holds {
			holds[id] = Hold{Value: h.Value, Coming: true}
		}
		v.Holds, v.Proved = holds, nil
		next.Servers[name] = v
	}
	return next
}

// Change is what a transaction of the store changes of it.
type Change struct {
	// Incarnation is a new one; empty changes nothing.
	Incarnation string
	// Shared are by key; nil is deleted. At once are those that are in the slots when the
	// transaction is over.
	Shared map[string]json.RawMessage
	AtOnce bool
	// Early are those of Shared that keep the agent from acting: they are in the slots before the transaction is on disk.
	Early map[string]json.RawMessage
	// Servers are as they are after it; one without holds is not held any more. Gone are the ids of
	// holds that it takes away.
	Servers map[string]Server
	Gone    map[string]bool
}

// ahead is the set before the transaction is on disk: what it adds, and nothing that it takes.
func (s Set) ahead(c Change) Set {
	s = s.clone()
	if c.Incarnation != "" && !slices.Contains(s.Incarnations, c.Incarnation) {
		s.Incarnations = append(s.Incarnations, c.Incarnation)
	}
	maps.Copy(s.Shared, c.Early)
	for name, now := range c.Servers {
		was, held := s.Servers[name]
		if !held && len(now.Holds) == 0 {
			continue
		}
		next, holds := now, maps.Clone(was.Holds)
		if len(now.Holds) == 0 {
			next = was // as long as it is held
		}
		if holds == nil {
			holds = map[string]Hold{}
		}
		for id, h := range holds {
			if c.Gone[id] {
				h.Coming = false // else its release would not be known from a crash
				holds[id] = h
			}
		}
		for id, h := range now.Holds {
			before, lies := holds[id]
			holds[id] = Hold{Value: h.Value, Coming: !lies || before.Coming}
		}
		next.Holds = holds
		s.Servers[name] = next
	}
	return s
}

// behind is the set once the transaction is on disk.
func (s Set) behind(c Change) Set {
	s = s.clone()
	if c.Incarnation != "" {
		s.Incarnations = []string{c.Incarnation}
	}
	for key, value := range c.Shared {
		if s.Shared[key] = value; value == nil {
			delete(s.Shared, key)
		}
	}
	for name, now := range c.Servers {
		was, next := s.Servers[name], now
		if len(now.Holds) == 0 {
			next = was
		}
		next.Holds = maps.Clone(now.Holds)
		if next.Holds == nil {
			next.Holds = map[string]Hold{}
		}
		for id, h := range was.Holds {
			if _, lies := now.Holds[id]; !lies && h.Coming && !c.Gone[id] {
				next.Holds[id] = h
			}
		}
		if s.Servers[name] = next; len(next.Holds) == 0 {
			delete(s.Servers, name)
		}
	}
	return s
}

// covers says whether what is on disk guards as much as s: the rest of s may be written later.
func (s Set) covers(next Set) bool {
	for _, id := range next.Incarnations {
		if !slices.Contains(s.Incarnations, id) {
			return false
		}
	}
	for name, n := range next.Servers {
		was, ok := s.Servers[name]
		if !ok || !bytes.Equal(was.Intent, n.Intent) || !bytes.Equal(was.Secret, n.Secret) || !bytes.Equal(was.Account, n.Account) {
			return false
		}
		for id, h := range n.Holds {
			if before, lies := was.Holds[id]; !lies || !bytes.Equal(before.Value, h.Value) || before.Coming && !h.Coming {
				return false
			}
		}
	}
	return true
}
