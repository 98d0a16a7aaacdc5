package wire

import (
	"reflect"

	"rackboot/protocol"
)

// Kind is one kind of sealed message: its name, where it travels, and how to make
// an empty one.
type Kind struct {
	Name string
	// Topic is the topic of the facts and of Announce, which have but one; else
	// empty.
	Topic string
	// Direction and Leaf are of the topics of an agent: "u" or "d", and
	// protocol.LeafHold and so on.
	Direction, Leaf string
	// New makes a pointer to an empty message.
	New func() any
}

func kind[T any](topic, direction, leaf string) Kind {
	return Kind{Name: reflect.TypeFor[T]().Name(), Topic: topic, Direction: direction, Leaf: leaf, New: func() any { return new(T) }}
}

// Kinds lists all kinds of sealed messages.
func Kinds() []Kind {
	return []Kind{
		kind[protocol.HoldDoc]("", "d", protocol.LeafHold),
		kind[protocol.RackDoc]("", "d", protocol.LeafRack),
		kind[protocol.Sync]("", "d", protocol.LeafSync),
		kind[protocol.Announce](protocol.TopicAnnounce, "", ""),
		kind[protocol.Ask]("", "d", protocol.LeafAsk),
		kind[protocol.Hello]("", "u", protocol.LeafHello),
		kind[protocol.Applied]("", "u", protocol.LeafApplied),
		kind[protocol.Report]("", "u", protocol.LeafReport),
		kind[protocol.EventBatch]("", "u", protocol.LeafEvent),
		kind[protocol.Answer]("", "u", protocol.LeafAnswer),
		kind[protocol.Grant](FactGrant, "", ""),
		kind[protocol.Provisioned](FactProvisioned, "", ""),
		kind[protocol.Receipt](FactReceipt, "", ""),
		kind[protocol.Approval](FactApproval, "", ""),
		kind[protocol.EndOfTerm](FactEndOfTerm, "", ""),
		kind[protocol.KeyStatement](FactKey, "", ""),
		kind[protocol.Renewal](FactRenewal, "", ""),
	}
}

// KindOf is the kind of message that travels on the topic; false if none does.
func KindOf(topic string) (Kind, bool) {
	_, direction, leaf, agents := protocol.SplitTopic(topic)
	name, _, known := protocol.ParseLeaf(leaf)
	for _, k := range Kinds() {
		if (k.Topic != "" && k.Topic == topic) || (agents && known && k.Direction == direction && k.Leaf == name) {
			return k, true
		}
	}
	return Kind{}, false
}
