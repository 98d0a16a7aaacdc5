package control

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// compile gives every agent's documents a version where their content differs
// from what was last sent, writes the ledger, and sends.
func (c *Control) compile(ctx context.Context) error {
	for agent, docs := range plan.Compile(c.fleet()) {
		l, err := c.cfg.Store.Ledger(agent)
		if err != nil {
			return err
		}
		if l.Sent == nil {
			l.Sent = map[string]store.SentDoc{}
		}
		l.Agent = agent
		changed := false
		version := func(leaf string, doc any, stamp func(protocol.Head, time.Time)) error {
			content, err := json.Marshal(doc)
			if err != nil {
				return err
			}
			digest := wire.Digest(content)
			have, sent := l.Sent[leaf]
			if sent && have.Digest == digest && have.Head.Epoch == c.epoch {
				return nil
			}
			head := protocol.Head{Epoch: c.epoch, Version: have.Head.Version + 1}
			stamp(head, c.cfg.Clock())
			body, err := json.Marshal(doc)
			if err != nil {
				return err
			}
			l.Sent[leaf] = store.SentDoc{Head: head, Body: body, Digest: digest}
			changed = true
			return nil
		}
		if err := version(protocol.LeafHold, &docs.Holds, func(h protocol.Head, at time.Time) { docs.Holds.Head, docs.Holds.IssuedAt = h, at }); err != nil {
			return err
		}
		for i := range docs.Racks {
			d := &docs.Racks[i]
			leaf := fmt.Sprintf("%s/%d", protocol.LeafRack, d.Shard)
			if err := version(leaf, d, func(h protocol.Head, at time.Time) { d.Head, d.IssuedAt = h, at }); err != nil {
				return err
			}
		}
		for i := len(docs.Racks); ; i++ {
			leaf := fmt.Sprintf("%s/%d", protocol.LeafRack, i)
			if _, ok := l.Sent[leaf]; !ok {
				break
			}
			delete(l.Sent, leaf)
			changed = true
		}
		if !changed {
			continue
		}
		if err := c.cfg.Store.PutLedger(ctx, &l); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.ledger.written")
		c.sends.again(agent)
	}
	c.resend()
	return nil
}

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
// doubling to 60 s, each ± 50 %.
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
