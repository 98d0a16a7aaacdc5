package control

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// ledgerTries bounds how often a change of a ledger is made again after somebody
// else changed it: the documents' versions and the agent's acknowledgements are
// written by two goroutines.
const ledgerTries = 8

// changeLedger changes an agent's ledger; change says whether there is something
// to write.
func (c *Control) changeLedger(ctx context.Context, agent string, change func(*store.Ledger) bool) (l store.Ledger, written bool, err error) {
	for try := 1; ; try++ {
		if l, err = c.cfg.Store.Ledger(agent); err != nil || !change(&l) {
			return l, false, err
		}
		err = c.cfg.Store.PutLedger(ctx, &l)
		if protocol.CodeOf(err) != protocol.CodeConflict || try == ledgerTries {
			return l, err == nil, err
		}
	}
}

// sends is when each agent's unacknowledged documents go out again.
type sends struct {
	mu     sync.Mutex
	next   map[string]time.Time
	wait   map[string]time.Duration
	behind map[string]bool // agents that have newer documents than the hub
}

func newSends() *sends {
	return &sends{next: map[string]time.Time{}, wait: map[string]time.Duration{}, behind: map[string]bool{}}
}

// setBehind says whether that is news.
func (s *sends) setBehind(agent string, behind bool) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news = s.behind[agent] != behind
	if behind {
		s.behind[agent] = true
	} else {
		delete(s.behind, agent)
	}
	return news
}

func (s *sends) isBehind(agent string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behind[agent]
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
			c.publish(protocol.TopicDown(agent, leaf), l.Sent[leaf].Body)
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
