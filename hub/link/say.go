package link

import (
	"crypto/rand"
	"encoding/base64"
	"io"
	"sync"
	"time"

	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// sender says what the hub has to say to agents.
type sender struct {
	cfg     Config
	metrics *metrics

	mu        sync.Mutex
	announced string // nonce of the last announcement
	told      []byte // the sealed word on the store, for all agents
	toldOf    message.HubHead
	toldAt    time.Time // when it was looked at last
}

// tellEvery is how often it is looked whether the store has more than agents were told. One signature is for
// all of them, and none is made, nor anything written at an agent, where nothing has changed.
const tellEvery = message.SyncEvery / 2

// hubHead is the sealed word on the hub's store; nil where nothing is known of it, or less than the agent has heard of,
// up to atLeast, from another hub on the same store.
func (c *sender) hubHead(atLeast uint64) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.cfg.Clock()
	shares := c.cfg.Start.Shares()
	if c.told != nil && now.Sub(c.toldAt) < tellEvery && !now.Before(c.toldAt) && (!shares || c.toldOf.Sequence >= atLeast) {
		return c.told
	}
	head, known := c.cfg.Start.HubHead()
	if !known || shares && head.Sequence < atLeast {
		return nil
	}
	if was := c.toldOf; c.told != nil && head.Store == was.Store && head.Epoch == was.Epoch && head.Sequence == was.Sequence && head.AuditSeq == was.AuditSeq {
		c.toldAt = now
		return c.told
	}
	sealed, err := wire.Seal(c.cfg.Signer, wire.FactHubHead, head)
	if err != nil {
		c.cfg.Logger.Error("cannot seal what the store has", "err", err)
		return nil
	}
	c.told, c.toldOf, c.toldAt = sealed, head, now
	return sealed
}

// nonce is 128 random bits. Without them nothing is taken for fresh.
func (c *sender) nonce() string {
	raw := make([]byte, 16)
	if _, err := io.ReadFull(c.cfg.Random, raw); err != nil {
		c.cfg.Logger.Error("no random bytes", "err", err)
		return rand.Text()
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// word begins a Sync.
func (c *sender) word(agent, session string) message.Sync {
	return message.Sync{
		Session: session, Protocol: protocol.Version, At: c.cfg.Clock(), Epoch: c.cfg.Start.Epoch(), Fence: c.cfg.Start.FenceFor(agent), ValidFor: message.SyncValid, Trust: c.cfg.Trust,
	}
}

// say sends a Sync, unless this hub leaves the agent to another one.
func (c *sender) say(agent string, m message.Sync) {
	if copies := c.cfg.Terms.CopiesOf(agent); m.Copied == nil && copies.Open() {
		m.Copied = copies.Word()
	}
	if c.cfg.Start.WorksFor(agent) {
		c.send(message.TopicDown(agent, message.LeafSync), m)
	}
}

// serves begins the answer to an agent; one that neither serves its rack nor stands by any more, or of
// which that is not known, is told so, and nothing else.
func (c *sender) serves(a *resource.Agent, session string) (message.Sync, bool) {
	m := c.word(a.Metadata.Name, session)
	if !c.cfg.Terms.Belongs(a) {
		m.Refused = c.cfg.Terms.Of(a).Refusal()
		c.say(a.Metadata.Name, m)
		return m, false
	}
	return m, true
}

func (c *sender) send(topic string, msg any) {
	data, err := wire.Seal(c.cfg.Signer, topic, msg)
	if err != nil {
		c.cfg.Logger.Error("cannot seal", "topic", topic, "err", err)
		return
	}
	c.publish(topic, data)
}

func (c *sender) publish(topic string, sealed []byte) {
	c.metrics.count(topic)
	if err := c.cfg.Publish(topic, sealed); err != nil {
		c.cfg.Logger.Debug("not sent", "topic", topic, "err", err)
	}
}

// dismiss tells an agent that its term is over.
func (c *sender) dismiss(agent, session string, e terms.Ending) {
	m := c.word(agent, session)
	m.Trust, m.Refused, m.Ended = "", e.Code, c.cfg.Terms.LastWord(agent, e)
	c.say(agent, m)
}

// retired tells an agent that was not chosen that another one of its disk goes on.
func (c *sender) retired(agent, session string, copies *terms.Copies) {
	m := c.word(agent, session)
	m.Copied = copies.Word()
	c.say(agent, m)
}
