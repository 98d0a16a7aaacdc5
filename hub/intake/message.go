package intake

import "rackboot/protocol/message"

// Message is what an agent said, with its topic taken apart. Nothing of it is verified.
type Message struct {
	Agent, Leaf string
	Topic       string
	Payload     []byte
}

// Parse takes the topic of a message apart; false if it is none on which agents speak.
func Parse(topic string, payload []byte) (m Message, ok bool) {
	agent, direction, leaf, ok := message.SplitTopic(topic)
	if !ok || direction != "u" {
		return Message{}, false
	}
	return Message{Agent: agent, Leaf: leaf, Topic: topic, Payload: payload}, true
}

// overhead is what a message that waits costs besides its text, in bytes, more or less.
const overhead = 256

func (m Message) size() int { return len(m.Topic) + len(m.Payload) + overhead }

// kindOther is the label of what no version of the protocol has.
const kindOther = "other"

var kinds = []string{message.LeafHello, message.LeafApplied, message.LeafReport, message.LeafEvent, message.LeafAnswer, kindOther}

// kind is what a message claims to be, as a label of metrics.
func (m Message) kind() string {
	switch m.Leaf {
	case message.LeafHello, message.LeafApplied, message.LeafReport, message.LeafEvent, message.LeafAnswer:
		return m.Leaf
	}
	return kindOther
}
