package message

import (
	"strconv"
	"strings"

	"rackboot/protocol"
)

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
//	rb/v1/a/{agent}/d/ask          Ask
//	rb/v1/a/{agent}/u/answer       Answer
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

// maxSlashes bounds the levels of a topic: some services that speak MQTT take no
// more (AWS IoT Core, topic limits).
const maxSlashes = 7

// SplitTopic takes an agent topic apart: who, direction ("u" or "d") and leaf. It
// is strict, because what it returns decides whose key must have signed: the agent
// is a [protocol.ValidName], and each level of the leaf is printable ASCII without space and
// without what has a meaning to a broker (+ and #, MQTT 3.1.1 §4.7.1; $, §4.7.2;
// . * and >, which separate and select the subjects of NATS).
func SplitTopic(topic string) (agent, direction, leaf string, ok bool) {
	rest, found := strings.CutPrefix(topic, topicRoot+"a/")
	if !found || strings.Count(topic, "/") > maxSlashes {
		return "", "", "", false
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 || !protocol.ValidName(parts[0]) || (parts[1] != "u" && parts[1] != "d") {
		return "", "", "", false
	}
	for level := range strings.SplitSeq(parts[2], "/") {
		if !validLevel(level) {
			return "", "", "", false
		}
	}
	return parts[0], parts[1], parts[2], true
}

func validLevel(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || strings.IndexByte("+#$.*>", s[i]) >= 0 {
			return false
		}
	}
	return s != ""
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
	LeafAsk     = "ask"
	LeafAnswer  = "answer"
)

// RackLeaf is the leaf of one shard of the RackDoc.
func RackLeaf(shard int) string { return LeafRack + "/" + strconv.Itoa(shard) }

// ParseLeaf takes a leaf of this version apart: its name, and for [LeafRack] the
// shard. A shard is a decimal number in its one form, without sign and without
// leading zeros, so that no two topics mean the same document.
func ParseLeaf(leaf string) (name string, shard int, ok bool) {
	switch leaf {
	case LeafHold, LeafSync, LeafHello, LeafApplied, LeafReport, LeafEvent, LeafAsk, LeafAnswer:
		return leaf, 0, true
	}
	digits, found := strings.CutPrefix(leaf, LeafRack+"/")
	if !found {
		return "", 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || strconv.FormatUint(n, 10) != digits {
		return "", 0, false
	}
	return LeafRack, int(n), true
}
