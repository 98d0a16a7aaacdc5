package control

import (
	"maps"
	"sync"
	"time"

	"rackboot/protocol"
)

// mirror keeps the newest report of each agent in memory. A hub that starts asks
// for them again; nothing durable is built on it.
type mirror struct {
	mu     sync.RWMutex
	agents map[string]*agentMirror
	byName map[string]*protocol.ServerReport
	at     map[string]time.Time // by server: when the hub got it
	known  map[string]bool      // filed facts, so that each is appended once a run
}

type agentMirror struct {
	last protocol.Report // without servers
	got  time.Time
}

func newMirror() *mirror {
	return &mirror{agents: map[string]*agentMirror{}, byName: map[string]*protocol.ServerReport{}, at: map[string]time.Time{}, known: map[string]bool{}}
}

// put takes a report; it is refused if a later one of the same session is there.
func (m *mirror) put(r protocol.Report, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.agents[r.Agent]
	if a == nil {
		a = &agentMirror{}
		m.agents[r.Agent] = a
	}
	if a.last.Incarnation == r.Incarnation && r.At.Before(a.last.At) {
		return false
	}
	for i := range r.Servers {
		s := r.Servers[i]
		m.byName[s.Server], m.at[s.Server] = &s, now
	}
	r.Servers = nil
	a.last, a.got = r, now
	return true
}

func (m *mirror) servers() map[string]*protocol.ServerReport {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return maps.Clone(m.byName)
}

func (m *mirror) server(name string) (*protocol.ServerReport, time.Time) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.byName[name], m.at[name]
}

func (m *mirror) agent(name string) (protocol.Report, time.Time, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	a := m.agents[name]
	if a == nil {
		return protocol.Report{}, time.Time{}, false
	}
	return a.last, a.got, true
}

// filed notes a fact and says whether it was noted before.
func (m *mirror) filed(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.known[key]
	m.known[key] = true
	return was
}
