package reports

import (
	"bytes"
	"maps"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// MaxShards bounds the shards of one agent.
const MaxShards = 1024

// DarkAfter is how old the last report may be before a server counts as Dark.
const DarkAfter = 45 * time.Second

// Mirror keeps the newest report of each agent in memory. A hub that starts asks
// for them again; nothing durable is built on it.
type Mirror struct {
	mu     sync.RWMutex
	agents map[string]*agentMirror
	seen   map[string]*sight          // by server
	known  map[string]bool            // digests of facts that are in the log
	freed  map[string]string          // holds whose release was acknowledged in this run, and by whom
	laid   map[string]map[string]bool // by agent: the holds of its acknowledged document
	// measured are the stored holds whose way to the agent's disk was measured.
	measured map[string]bool
}

// maxKnown bounds the facts whose filing is remembered.
const maxKnown = 100_000

// sight is what is known of a server.
type sight struct {
	report *resource.ServerReport
	at     time.Time // when the hub got it
	read   time.Time // when its last recorded read was begun, by the hub's clock
	first  time.Time // when its present agent first told of it
}

type agentMirror struct {
	last message.Report // the newest of the session, without servers
	seqs map[int]uint64 // the last of each shard in the session
	got  time.Time
	// whole is when a report of each shard was last taken over as if all of it was news.
	whole map[int]time.Time
}

// New returns a mirror that has heard nothing.
func New() *Mirror {
	return &Mirror{agents: map[string]*agentMirror{}, seen: map[string]*sight{}, known: map[string]bool{}, freed: map[string]string{}, laid: map[string]map[string]bool{}, measured: map[string]bool{}}
}

// Accepts says whether a report is newer than what is there of its shard: by number
// within a session, whatever the agent's clock does. Another session's is of the
// present one, which its nonce has shown.
func (m *Mirror) Accepts(agent string, r message.Report) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	a := m.agents[agent]
	switch {
	case r.Shard < 0 || r.Shard >= MaxShards:
		return false
	case a == nil || a.last.Session != r.Session:
		return true
	}
	return r.Seq > a.seqs[r.Shard]
}

// wholeEvery is how often a report is taken over as if all of it was news: what it is compared
// with may have changed here, and not there.
const wholeEvery = time.Minute

// Put takes a report of an agent's own rack that was accepted, and returns the servers of which
// it has news, or all where that is due. changed reports whether it has news of any.
func (m *Mirror) Put(r message.Report, now time.Time) (news []resource.ServerReport, changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.agents[r.Agent]
	if a == nil || a.last.Session != r.Session {
		a = &agentMirror{seqs: map[int]uint64{}, whole: map[int]time.Time{}}
		m.agents[r.Agent] = a
	}
	whole := now.Sub(a.whole[r.Shard]) >= wholeEvery
	if whole {
		a.whole[r.Shard] = now
	}
	for i := range r.Servers {
		s := r.Servers[i]
		k := m.seen[s.Server]
		if k == nil {
			k = &sight{first: now}
			m.seen[s.Server] = k
		}
		differs := !sameNews(k.report, &r.Servers[i])
		if changed = changed || differs; whole || differs {
			news = append(news, s)
		}
		if k.report != nil {
			s.Image = inventoryOf(k.report, s.Image)
			if bytes.Equal(s.Provisioned, k.report.Provisioned) {
				s.Provisioned = k.report.Provisioned
			}
		}
		k.report, k.at = &s, now
		if ago, known := s.ReadAgo(r.At); known && now.Add(-ago).After(k.read) {
			k.read = now.Add(-ago)
		}
	}
	a.seqs[r.Shard], a.got = r.Seq, now
	if a.last.Session == "" || r.Seq > a.last.Seq {
		r.Servers = nil
		a.last = r
	}
	return news, changed
}

// Keep has the record of an installed server in memory once: as it is stored.
func (m *Mirror) Keep(server string, stored []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.seen[server]
	if k == nil || !bytes.Equal(k.report.Provisioned, stored) || len(stored) == 0 || &k.report.Provisioned[0] == &stored[0] {
		return
	}
	own := *k.report // which others read
	own.Provisioned = stored
	k.report = &own
}

// Again has the next report of a shard taken over as if all of it was news.
func (m *Mirror) Again(agent string, shard int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.agents[agent]; a != nil {
		delete(a.whole, shard)
	}
}

// inventoryOf is what an image reported, with the inventory that an earlier report of
// the agent carried: not each does.
func inventoryOf(last *resource.ServerReport, now *protocol.ImageReport) *protocol.ImageReport {
	if now == nil || now.Inventory != nil || now.Digest == "" || last == nil || last.Image == nil || last.Image.Digest != now.Digest {
		return now
	}
	whole := *now
	whole.Inventory = last.Image.Inventory
	return &whole
}

// Servers are the newest reports by server; the map is the caller's own.
func (m *Mirror) Servers() map[string]*resource.ServerReport {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make(map[string]*resource.ServerReport, len(m.seen))
	for name, k := range m.seen {
		out[name] = k.report
	}
	return out
}

// Server is the newest report of a server, and when it came; nil without one.
func (m *Mirror) Server(name string) (*resource.ServerReport, time.Time) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if k := m.seen[name]; k != nil {
		return k.report, k.at
	}
	return nil, time.Time{}
}

// ReadAt is when the last recorded read of a server was begun, zero where none is known,
// and when its present agent first told of it.
func (m *Mirror) ReadAt(name string) (at, first time.Time) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if k := m.seen[name]; k != nil {
		return k.read, k.first
	}
	return time.Time{}, time.Time{}
}

// Agent is the newest report of an agent, without servers, and when it came.
func (m *Mirror) Agent(name string) (message.Report, time.Time, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	a := m.agents[name]
	if a == nil {
		return message.Report{}, time.Time{}, false
	}
	return a.last, a.got, true
}

// Drop forgets what an agent said of a rack's servers, because it serves the rack
// no more.
func (m *Mirror) Drop(agent string, servers []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.agents, agent)
	for _, s := range servers {
		delete(m.seen, s)
	}
}

// Filed says whether a fact is known to be in the log.
func (m *Mirror) Filed(digest string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.known[digest]
}

// File notes that a fact is in the log.
func (m *Mirror) File(digest string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxKnown {
		clear(m.known) // the log is asked again
	}
	m.known[digest] = true
}

// Release notes that a hold is gone, so that a report of before does not bring it
// back.
func (m *Mirror) Release(hold, agent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.freed) >= maxKnown {
		clear(m.freed)
	}
	m.freed[hold] = agent
	delete(m.measured, hold)
}

// WasReleased reports whether a hold is known to be gone.
func (m *Mirror) WasReleased(hold string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.freed[hold] != ""
}

// Forgive forgets the releases that an agent acknowledged: with another disk it may
// enforce those holds again, and must not do so for ever.
func (m *Mirror) Forgive(agent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.freed, func(_, by string) bool { return by == agent })
	delete(m.laid, agent)
}

// Lay replaces what an agent is known to have acknowledged.
func (m *Mirror) Lay(agent string, holds map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.laid[agent] = holds
}

// FirstTime says whether a hold was not measured yet, and notes that it is.
func (m *Mirror) FirstTime(hold string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.measured[hold] {
		return false
	}
	m.measured[hold] = true
	return true
}

// Enforced says whether the acknowledged document of the agent names the hold.
func (m *Mirror) Enforced(agent, hold string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.laid[agent][hold]
}

// Apart is each agent's clock less the hub's, by the last report of those that are not Dark.
func (m *Mirror) Apart(now time.Time) map[string]time.Duration {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make(map[string]time.Duration, len(m.agents))
	for name, a := range m.agents {
		if !a.last.At.IsZero() && now.Sub(a.got) <= DarkAfter {
			out[name] = a.last.At.Sub(a.got)
		}
	}
	return out
}

// Assume takes for granted what no agent has said of a server, for tests of what follows: silent since
// at, where that is not zero.
func (m *Mirror) Assume(r resource.ServerReport, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[r.Server] == nil {
		m.seen[r.Server] = &sight{report: &r}
	}
	if !at.IsZero() {
		m.seen[r.Server].at = at
	}
}
