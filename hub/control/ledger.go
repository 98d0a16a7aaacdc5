package control

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// sends is when each agent's unacknowledged documents go out again.
type sends struct {
	mu   sync.Mutex
	next map[string]time.Time
	wait map[string]time.Duration
}

func newSends() *sends {
	return &sends{next: map[string]time.Time{}, wait: map[string]time.Duration{}}
}

// again sends to an agent at once, and forgets how often that was in vain.
func (s *sends) again(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.next, agent)
	delete(s.wait, agent)
}

// The pause between two sends of an unacknowledged document.
const (
	sendPauseMin = 2 * time.Second
	sendPauseMax = time.Minute
)

// due says whether an agent may be sent to now, and plans the next time: 2 s,
// doubling to 60 s, each ± 50 %, so that agents do not come in step.
func (s *sends) due(agent string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.next[agent]) {
		return false
	}
	w := min(max(s.wait[agent]*2, sendPauseMin), sendPauseMax)
	s.wait[agent] = w
	s.next[agent] = now.Add(w/2 + time.Duration(rand.Int64N(int64(w))))
	return true
}

// resend sends what agents have not acknowledged, holds first.
func (c *Control) resend() {
	for _, r := range store.List[*protocol.Rack](c.cfg.Store) {
		agent := r.Status.Agent
		if agent == "" {
			continue
		}
		l, err := c.cfg.Store.Ledger(agent)
		if err != nil {
			continue
		}
		var open []string
		for _, leaf := range sentLeaves(l) {
			if l.Acked[leaf] != l.Sent[leaf].Head {
				open = append(open, leaf)
			}
		}
		if len(open) == 0 || !c.sends.due(agent, c.cfg.Clock()) {
			continue
		}
		for _, leaf := range open {
			c.sendDoc(agent, leaf, l.Sent[leaf].Body)
		}
	}
}

// sentLeaves are the documents in the order in which they go out: holds first.
func sentLeaves(l store.Ledger) []string {
	var out []string
	if _, ok := l.Sent[protocol.LeafHold]; ok {
		out = append(out, protocol.LeafHold)
	}
	for i := 0; ; i++ {
		leaf := fmt.Sprintf("%s/%d", protocol.LeafRack, i)
		if _, ok := l.Sent[leaf]; !ok {
			return out
		}
		out = append(out, leaf)
	}
}

func (c *Control) sendDoc(agent, leaf string, body []byte) {
	topic := protocol.TopicDown(agent, leaf)
	var err error
	if leaf == protocol.LeafHold {
		var d protocol.HoldDoc
		if err = json.Unmarshal(body, &d); err == nil {
			c.send(topic, d)
		}
	} else {
		var d protocol.RackDoc
		if err = json.Unmarshal(body, &d); err == nil {
			c.send(topic, d)
		}
	}
	if err != nil {
		c.log.Error("a document of the ledger cannot be read", "agent", agent, "doc", leaf, "err", err)
	}
}
