package control

import (
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// lay notes the holds of a hold document that its agent has acknowledged: they are
// Enforced from then on, and people need not wait for the report that says so too.
func (c *Control) lay(agent string, s store.SentDoc) {
	var d protocol.HoldDoc
	topic := protocol.TopicDown(agent, protocol.LeafHold)
	if err := wire.Open(wire.NewVerifier(c.cfg.Signer.Public()), topic, s.Body, &d); err != nil {
		c.log.Error("own document cannot be opened", "agent", agent, "err", err)
		return
	}
	laid := map[string]bool{}
	for _, h := range d.Holds {
		laid[h.ID] = true
	}
	c.mirror.lay(agent, laid)
}

// lay replaces what an agent is known to have acknowledged.
func (m *mirror) lay(agent string, holds map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.laid[agent] = holds
}

// enforced says whether the acknowledged document of the agent names the hold.
func (m *mirror) enforced(agent, hold string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.laid[agent][hold]
}
