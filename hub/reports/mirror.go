package reports

import (
	"bytes"
	"maps"
	"sync"
	"time"

	"rackboot/hub/once"
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
	doubts   doubts
	said     *once.Table // what reports have in common
}

// maxKnown bounds the facts whose filing is remembered.
const maxKnown = 100_000

// sight is what is known of a server.
type sight struct {
	report *resource.ServerReport
	agent  string    // whose it is
	at     time.Time // when the hub got it
	last   message.Read
	made   time.Time // by the agent's clock, when the report with last was made; zero where report has it
	read   time.Time // when its last recorded read was begun, by the hub's clock
	first  time.Time // when its present agent first told of it
}

// was takes when the server was read, as a report of it says that was made at made.
func (k *sight) was(s *resource.ServerReport, made, now time.Time) {
	k.report = s
	read := message.Read{Took: s.ReadTook()}
	if ago, known := s.ReadAgo(made); known {
		read.Age = max(ago, time.Nanosecond)
	}
	k.again(read, time.Time{}, now)
}

// again takes when the server was read, as a report says that was made at made and stands for an
// earlier one.
func (k *sight) again(r message.Read, made, now time.Time) {
	k.at, k.last, k.made = now, r, made
	if begun := now.Add(-r.Age); r.Age > 0 && begun.After(k.read) {
		k.read = begun
	}
}

type agentMirror struct {
	last   message.Report // the newest of the session, without servers
	shards map[int]*shard // as the session told of them
	got    time.Time
}

// New returns a mirror that has heard nothing.
func New() *Mirror {
	return &Mirror{agents: map[string]*agentMirror{}, seen: map[string]*sight{}, known: map[string]bool{}, freed: map[string]string{}, laid: map[string]map[string]bool{}, measured: map[string]bool{}, doubts: newDoubts(), said: once.New()}
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
	sh := a.shards[r.Shard]
	return sh == nil || r.Seq > sh.seq
}

// wholeEvery is how often a report is taken over as if all of it was news: what it is compared
// with may have changed here, and not there.
const wholeEvery = time.Minute

// Put takes a report without As that was accepted, and returns the servers of its agent's rack
// of which it has news, or all where that is due. changed reports whether it has news of any.
func (m *Mirror) Put(r message.Report, rack Rack, now time.Time) (news []resource.ServerReport, changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, sh := m.shardOf(r)
	whole := sh.due(now)
	sh.members(r.Servers, r.Revisions, rack, func(server string) *sight {
		if m.seen[server] == nil {
			m.seen[server] = &sight{first: now}
		}
		return m.seen[server]
	})
	sh.has = r.Seq
	for i := range r.Servers {
		k := sh.servers[i].sight
		if k == nil {
			continue
		}
		differs := m.takes(k, r, r.Servers[i], now)
		if changed = changed || differs; whole || differs {
			news = append(news, r.Servers[i])
		}
	}
	a.told(r, sh, now)
	return news, changed
}

// takes takes what a report says of a server, and reports whether that is news. What others say in the same words is in
// memory once. It needs m.mu.
func (m *Mirror) takes(k *sight, r message.Report, s resource.ServerReport, now time.Time) (differs bool) {
	m.said.Texts(&s) // before it has what others read already
	once.Value(m.said, &s.Safety)
	differs = !sameNews(k.report, &s)
	if k.report != nil {
		s.Image = inventoryOf(k.report, s.Image)
		if bytes.Equal(s.Provisioned, k.report.Provisioned) {
			s.Provisioned = k.report.Provisioned
		}
	}
	k.agent = r.Agent
	m.doubts.told(r.Agent, &s)
	k.was(&s, r.At, now)
	return differs
}

// Hear takes of a report that was accepted only that its agent lives, and what it says of
// itself: what an agent says of servers counts once it serves them.
func (m *Mirror) Hear(r message.Report, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, sh := m.shardOf(r)
	r.Found = nil
	a.told(r, sh, now)
}

// Change takes a report with As that was accepted, as Put does. have is false where what it speaks of is
// not here; then nothing of it was taken, and the agent has to tell all of the shard.
func (m *Mirror) Change(r message.Report, rack Rack, now time.Time) (news []resource.ServerReport, changed, have bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.agents[r.Agent]
	if a == nil || a.last.Session != r.Session {
		return nil, false, false
	}
	sh := a.shards[r.Shard]
	if sh == nil || !sh.stands(r, rack) {
		return nil, false, false
	}
	told, fits := sh.patch(r)
	if !fits {
		sh.has = 0
		return nil, false, false
	}
	if len(told) > 0 {
		sh.has = r.Seq
	}
	whole := sh.due(now)
	for i, s := range sh.servers {
		if s.sight == nil {
			continue
		}
		differs := false
		if t := told[i]; t != nil {
			differs = m.takes(s.sight, r, *t, now)
		} else {
			s.sight.again(r.Reads[i], r.At, now)
		}
		if changed = changed || differs; whole || differs {
			news = append(news, *s.sight.report)
		}
	}
	r.Found = a.last.Found
	a.told(r, sh, now)
	return news, changed, true
}

// Reported is, by shard, which report of an agent's session is the last with Servers after which all of it is
// here; 0 is none.
func (m *Mirror) Reported(agent, session string) (seqs []uint64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	a := m.agents[agent]
	if a == nil || a.last.Session != session {
		return nil
	}
	for i := range min(max(1, a.last.Shards), MaxShards) {
		seq := uint64(0)
		if sh := a.shards[i]; sh != nil {
			seq = sh.has
		}
		seqs = append(seqs, seq)
	}
	return seqs
}

// shardOf is what is known of the shard that a report is of; it needs m.mu.
func (m *Mirror) shardOf(r message.Report) (*agentMirror, *shard) {
	a := m.agents[r.Agent]
	if a == nil || a.last.Session != r.Session {
		a = &agentMirror{shards: map[int]*shard{}}
		m.agents[r.Agent] = a
	}
	if a.shards[r.Shard] == nil {
		a.shards[r.Shard] = &shard{}
	}
	return a, a.shards[r.Shard]
}

// told notes a report that was taken over.
func (a *agentMirror) told(r message.Report, sh *shard, now time.Time) {
	sh.seq, a.got = r.Seq, now
	if a.last.Session == "" || r.Seq > a.last.Seq {
		r.Servers, r.Reads, r.Revisions, r.Digest = nil, nil, nil, nil
		a.last = r
	}
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
	if a := m.agents[agent]; a != nil && a.shards[shard] != nil {
		a.shards[shard].taken = time.Time{}
	}
}

// Whole has all agents be told that nothing of what they report is here, so that they tell all of it: another hub that
// hears them lacks some.
func (m *Mirror) Whole() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.agents {
		for _, sh := range a.shards {
			sh.has = 0
		}
	}
}

// Anew has all that an agent reports taken over as if it was news, and be told whole: who has heard it did nothing with it.
func (m *Mirror) Anew(agent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.agents[agent]; a != nil {
		for _, sh := range a.shards {
			sh.taken, sh.has = time.Time{}, 0
		}
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

// Read is when a server was read last.
type Read struct {
	At    time.Time     // when it was begun, by the hub's clock; zero where none is known
	First time.Time     // when its present agent first told of it
	Took  time.Duration // until the BMC had answered
	// Started and Ended are by the agent's clock, and newer than those of the server's report; zero
	// where there are none.
	Started, Ended time.Time
	Age            time.Duration // from Started until the agent told of it; 0 with Started
}

// Read is when a server was read last, as the newest report says that was taken over.
func (m *Mirror) Read(server string) (r Read) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if k := m.seen[server]; k != nil {
		r = k.lastRead()
	}
	return r
}

// Heard is what is known of a server: its newest report, which is nil without one, when it came, and the last read.
type Heard struct {
	Report *resource.ServerReport
	At     time.Time
	Read   Read
}

// Heard appends what is known of each of some servers.
func (m *Mirror) Heard(servers []string, to []Heard) []Heard {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, name := range servers {
		h := Heard{}
		if k := m.seen[name]; k != nil {
			h = Heard{k.report, k.at, k.lastRead()}
		}
		to = append(to, h)
	}
	return to
}

func (k *sight) lastRead() Read {
	r := Read{At: k.read, First: k.first, Took: k.last.Took}
	if k.last.Age > 0 && !k.made.IsZero() {
		r.Started = k.made.Add(-k.last.Age)
		r.Ended, r.Age = r.Started.Add(k.last.Took), k.last.Age
	}
	return r
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
	delete(m.doubts.now, agent)
	for _, s := range servers {
		delete(m.seen, s)
		delete(m.doubts.void, s)
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
		m.seen[r.Server] = &sight{report: &r, last: message.Read{Took: r.ReadTook()}}
	}
	if !at.IsZero() {
		m.seen[r.Server].at = at
	}
}
