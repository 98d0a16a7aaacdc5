package link

import (
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Answer says what came of a question. One that is too large for the link says so.
func (r *Room) Answer(id string, body []byte, err error) {
	_, nonce := r.session.names()
	m := message.Answer{ID: id, Nonce: nonce, Body: body}
	if err == nil {
		_, err = wire.Seal(r.cfg.Signer, message.TopicUp(r.cfg.Agent, message.LeafAnswer), m)
	}
	if err != nil {
		m.Body, m.Code, m.Message, m.Hint, m.Condition = nil, protocol.CodeOf(err), err.Error(), protocol.HintOf(err), resource.ConditionOf(err)
	}
	r.publish(message.LeafAnswer, m)
}
