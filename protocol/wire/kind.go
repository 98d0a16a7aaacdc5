package wire

import (
	"reflect"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Kind is one kind of sealed message: its name, where it travels, and how to make
// an empty one.
type Kind struct {
	Name string
	// Topic is the topic of the facts and of Announce, which have but one; else
	// empty.
	Topic string
	// Direction and Leaf are of the topics of an agent: "u" or "d", and
	// message.LeafHold and so on.
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
		kind[message.HoldDoc]("", "d", message.LeafHold),
		kind[message.RackDoc]("", "d", message.LeafRack),
		kind[message.Sync]("", "d", message.LeafSync),
		kind[message.Announce](message.TopicAnnounce, "", ""),
		kind[message.Ask]("", "d", message.LeafAsk),
		kind[message.Hello]("", "u", message.LeafHello),
		kind[message.Applied]("", "u", message.LeafApplied),
		kind[message.Report]("", "u", message.LeafReport),
		kind[message.EventBatch]("", "u", message.LeafEvent),
		kind[message.Answer]("", "u", message.LeafAnswer),
		kind[message.Grant](FactGrant, "", ""),
		kind[resource.Provisioned](FactProvisioned, "", ""),
		kind[resource.Receipt](FactReceipt, "", ""),
		kind[resource.Approval](FactApproval, "", ""),
		kind[message.EndOfTerm](FactEndOfTerm, "", ""),
		kind[message.HubHead](FactHubHead, "", ""),
		kind[message.KeyStatement](FactKey, "", ""),
		kind[message.Renewal](FactRenewal, "", ""),
		kind[message.Beat](FactBeat, "", ""),
		kind[message.LocalHolds](FactLocalHolds, "", ""),
	}
}

// KindOf is the kind of message that travels on the topic; false if none does.
func KindOf(topic string) (Kind, bool) {
	_, direction, leaf, agents := message.SplitTopic(topic)
	name, _, known := message.ParseLeaf(leaf)
	for _, k := range Kinds() {
		if (k.Topic != "" && k.Topic == topic) || (agents && known && k.Direction == direction && k.Leaf == name) {
			return k, true
		}
	}
	return Kind{}, false
}
