package agent

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// refusal is why a message is not heeded. The values are a metric's label.
type refusal string

const (
	refusalSignature refusal = "signature" // of nobody known, changed, or of another topic
	refusalForm      refusal = "form"
	refusalSize      refusal = "size"
	refusalTopic     refusal = "topic" // of another agent
)

var refusalReasons = []refusal{refusalSignature, refusalForm, refusalSize, refusalTopic}

// refusals are the messages of late that did not verify. Whoever has the broker can
// send as many as it likes, so that they are counted and not kept, and not answered.
type refusals struct {
	count int
	last  time.Time
}

// maxLeaf bounds what is shown of a topic that somebody made up.
const maxLeaf = 64

// refuse notes a message that is not heeded. It is called by Receive only.
func (a *Agent) refuse(why refusal, leaf string) {
	now := a.cfg.Clock()
	if now.Sub(a.refusals.last) > fades {
		a.refusals.count = 0
	}
	a.refusals.count++
	a.refusals.last = now
	a.met.refused.WithLabelValues(string(why)).Inc()
	a.reports.RaiseFor(resource.CondMessagesRefused,
		fmt.Sprintf("%d messages, the last on %q: %s", a.refusals.count, leaf[:min(len(leaf), maxLeaf)], why), fades)
	if a.refusals.count == 1 {
		a.log.Warn("messages do not verify and are not heeded", "reason", why)
	}
}

// open verifies a message and decodes it into m. taken says whether the signature was
// good; then an error says what is wrong inside.
func (a *Agent) open(topic, leaf string, payload []byte, m any) (taken bool, err error) {
	err = wire.Open(a.hub.Load().verifier, topic, payload, m)
	if err == nil {
		return true, nil
	}
	switch {
	case len(payload) > wire.MaxMessage:
		a.refuse(refusalSize, leaf)
	case protocol.CodeOf(err) == protocol.CodeDenied:
		a.refuse(refusalSignature, leaf)
		a.news("") // it may be the hub's next key
	default:
		if a.signedByHub(topic, payload) {
			return true, err // and not what it should be
		}
		a.refuse(refusalForm, leaf)
	}
	return false, err
}

// signedByHub says whether the hub sealed these bytes for the topic, whatever is in
// them.
func (a *Agent) signedByHub(topic string, payload []byte) bool {
	e, err := wire.Inspect(payload)
	return err == nil && slices.ContainsFunc(a.hub.Load().keys, func(k ed25519.PublicKey) bool { return e.SignedBy(topic, k) })
}
