package link

import (
	"slices"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// announceNonce is that of the last announcement of this run.
func (c *sender) announceNonce() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.announced
}

// announce tells agents that the hub is there; they answer with a Hello. It is made
// anew for each connection of the hub.
//
// Where hubs share a store it has no fence, since that is another one at each rack; and one that works no agent says
// nothing.
func (c *sender) announce() {
	if c.cfg.Start.SteppedDown() {
		return
	}
	agents := store.List[*resource.Agent](c.cfg.Store.Objects)
	m := message.Announce{
		Hub: c.cfg.Start.Fence().Hub, Epoch: c.cfg.Start.Epoch(), At: c.cfg.Clock(), Nonce: c.nonce(), Fence: c.cfg.Start.Fence(),
		Spread: spread(len(agents)),
	}
	if c.cfg.Start.Shares() {
		m.Fence = message.Fence{}
		if !slices.ContainsFunc(agents, func(a *resource.Agent) bool { return c.cfg.Start.WorksFor(a.Metadata.Name) }) {
			return
		}
	}
	data, err := wire.Seal(c.cfg.Signer, message.TopicAnnounce, m)
	if err != nil {
		c.cfg.Logger.Error("cannot seal", "topic", message.TopicAnnounce, "err", err)
		return
	}
	c.mu.Lock()
	c.announced = m.Nonce
	c.mu.Unlock()
	c.publish(message.TopicAnnounce, data)
}

// helloRate is how many agents shall answer an announcement each second.
const helloRate = 200

func spread(agents int) time.Duration {
	return min(time.Minute, time.Duration(agents)*time.Second/helloRate)
}
