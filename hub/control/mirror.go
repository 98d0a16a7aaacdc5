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
	known  map[string]bool      // digests of facts that are in the log
	freed  map[string]bool      // holds whose release was acknowledged in this run
}

// maxKnown bounds the facts whose filing is remembered.
const maxKnown = 100_000

type agentMirror struct {
	last protocol.Report // without servers
	got  time.Time
}

func newMirror() *mirror {
	return &mirror{agents: map[string]*agentMirror{}, byName: map[string]*protocol.ServerReport{}, at: map[string]time.Time{}, known: map[string]bool{}, freed: map[string]bool{}}
}

// put takes a report of an agent's own rack. It is refused if a later one is
// there: by number within a session, whatever the agent's clock does, and by time
// between sessions, so that an old session cannot be played back.
func (m *mirror) put(r protocol.Report, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.agents[r.Agent]
	if a == nil {
		a = &agentMirror{}
		m.agents[r.Agent] = a
	}
	if a.last.Session == r.Session {
		if r.Seq <= a.last.Seq {
			return false
		}
	} else if r.At.Before(a.last.At) {
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

// drop forgets what an agent said of a rack's servers, because it serves the rack
// no more.
func (m *mirror) drop(agent string, servers []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.agents, agent)
	for _, s := range servers {
		delete(m.byName, s)
		delete(m.at, s)
	}
}

// filed says whether a fact is known to be in the log.
func (m *mirror) filed(digest string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.known[digest]
}

func (m *mirror) file(digest string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxKnown {
		clear(m.known) // the log is asked again
	}
	m.known[digest] = true
}

// release notes that a hold is gone, so that a report of before does not bring it
// back.
func (m *mirror) release(hold string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.freed) >= maxKnown {
		clear(m.freed)
	}
	m.freed[hold] = true
}

func (m *mirror) wasReleased(hold string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.freed[hold]
}
