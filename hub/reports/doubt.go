package reports

import (
	"bytes"

	"rackboot/protocol/resource"
)

// doubts are the receipts that do not count: those that an agent shows while its proofs are in
// doubt, and showed when that began. They count no more afterwards; the agent proves anew.
type doubts struct {
	now  map[string]bool              // agents
	void map[string]map[string][]byte // by server and hold: the signed receipts
}

func newDoubts() doubts { return doubts{map[string]bool{}, map[string]map[string][]byte{}} }

// told takes what an agent says of a server.
func (d *doubts) told(agent string, s *resource.ServerReport) {
	was := d.void[s.Server]
	if !d.now[agent] && was == nil {
		return
	}
	void := map[string][]byte{}
	for _, h := range s.Holds {
		if len(h.Receipt) > 0 && (d.now[agent] || bytes.Equal(was[h.ID], h.Receipt)) {
			void[h.ID] = h.Receipt
		}
	}
	if d.void[s.Server] = void; len(void) == 0 {
		delete(d.void, s.Server)
	}
}

// Doubt says whether nothing that an agent has proved counts. What it showed until that ends counts
// no more.
func (m *Mirror) Doubt(agent string, doubt bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !doubt {
		delete(m.doubts.now, agent)
		return
	}
	if m.doubts.now[agent] {
		return
	}
	m.doubts.now[agent] = true
	for _, k := range m.seen {
		if k.agent == agent && k.report != nil {
			m.doubts.told(agent, k.report)
		}
	}
}

// Proves reports whether a receipt that an agent shows counts.
func (m *Mirror) Proves(agent, server, hold string, receipt []byte) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return !m.doubts.now[agent] && !bytes.Equal(m.doubts.void[server][hold], receipt)
}
