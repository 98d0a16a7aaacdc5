package link

import (
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// why is the reason for which wire.Open refused a message.
func why(payload []byte, err error) reason {
	switch {
	case len(payload) > wire.MaxMessage:
		return reasonSize
	case protocol.CodeOf(err) == protocol.CodeDenied:
		return reasonSignature
	}
	return reasonForm
}

// refuse counts a message that failed verification and notes it at its agent.
func (c *hearing) refuse(agent, leaf string, why reason) {
	c.metrics.refused.WithLabelValues(string(why)).Inc()
	c.contacts.with(agent, func(k *contact) { k.refused.note(leaf, why, c.cfg.Clock()) })
}
