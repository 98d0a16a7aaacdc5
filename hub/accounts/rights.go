package accounts

import (
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// announcements are what the hub tells all agents ([message.TopicAnnounce] is one).
const announcements = "rb/v1/h/#"

// Rights are what one certificate may do, wills included, as filters of MQTT topics. Each ends with a level and /#.
type Rights struct{ Publish, Subscribe []string }

// Hub has the rights of every hub.
func Hub() Rights {
	return Rights{Publish: []string{message.TopicDown("+", "#"), announcements}, Subscribe: []string{message.TopicAllUp}}
}

// Agent has the rights of the agent of a name; false for what is no name of an agent. A name cannot hold a wildcard, a
// slash or a dot: [protocol.ValidName] allows none.
func Agent(name string) (Rights, bool) {
	if !protocol.ValidName(name) {
		return Rights{}, false
	}
	return Rights{Publish: []string{message.TopicUp(name, "#")}, Subscribe: []string{message.TopicDown(name, "#"), announcements}}, true
}

// PublishSubjects are the subjects of NATS for what may be published. Nothing is published on the level above #.
func (r Rights) PublishSubjects() (out []string) {
	for _, f := range r.Publish {
		out = append(out, subject(f))
	}
	return out
}

// SubscribeSubjects are the subjects of NATS for what may be subscribed to. MQTT's level/# means the level itself too
// (MQTT 3.1.1 §4.7.1.2), which in NATS is a subject of its own.
func (r Rights) SubscribeSubjects() (out []string) {
	for _, f := range r.Subscribe {
		s := subject(f)
		out = append(out, strings.TrimSuffix(s, ".>"), s)
	}
	return out
}

// subject is a filter as a subject of NATS (nats-server v2.15.2, mqtt.go, mqttToNATSSubjectConversion). A dot in a topic
// would be another character there; no filter of ours has one.
func subject(filter string) string {
	return strings.NewReplacer("/", ".", "+", "*", "#", ">").Replace(filter)
}
