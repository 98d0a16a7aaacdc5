package protocol

import "strings"

// Topic levels. An agent may publish below u/ and subscribe below d/ of its own
// id only; nothing is retained and the QoS is 0.
//
//	rb/v1/a/{agent}/d/hold         HoldDoc
//	rb/v1/a/{agent}/d/rack/{shard} RackDoc
//	rb/v1/a/{agent}/d/sync         Sync
//	rb/v1/a/{agent}/u/hello        Hello
//	rb/v1/a/{agent}/u/applied      Applied
//	rb/v1/a/{agent}/u/report       Report
//	rb/v1/a/{agent}/u/event        EventBatch
//	rb/v1/h/announce               Announce
const (
	topicRoot     = "rb/v1/"
	TopicAnnounce = topicRoot + "h/announce"
	TopicAllUp    = topicRoot + "a/+/u/#"
)

// TopicDown is the topic of a document or message from the hub to an agent.
func TopicDown(agent, leaf string) string { return topicRoot + "a/" + agent + "/d/" + leaf }

// TopicUp is the topic of a message from an agent to the hub.
func TopicUp(agent, leaf string) string { return topicRoot + "a/" + agent + "/u/" + leaf }

// SplitTopic takes an agent topic apart: who, direction ("u" or "d") and leaf.
func SplitTopic(topic string) (agent, direction, leaf string, ok bool) {
	rest, found := strings.CutPrefix(topic, topicRoot+"a/")
	if !found {
		return "", "", "", false
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 || parts[0] == "" || parts[2] == "" || (parts[1] != "u" && parts[1] != "d") {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}

// The leaves of the topics.
const (
	LeafHold    = "hold"
	LeafRack    = "rack" // followed by /{shard}
	LeafSync    = "sync"
	LeafHello   = "hello"
	LeafApplied = "applied"
	LeafReport  = "report"
	LeafEvent   = "event"
)
