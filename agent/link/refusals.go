package link

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
func (r *Room) refuse(why refusal, leaf string) {
	now := r.cfg.Clock()
	if now.Sub(r.refusals.last) > fades {
		r.refusals.count = 0
	}
	r.refusals.count++
	r.refusals.last = now
	r.met.refused.WithLabelValues(string(why)).Inc()
	r.cfg.Reports.RaiseFor(resource.CondMessagesRefused,
		fmt.Sprintf("%d messages, the last on %q: %s", r.refusals.count, leaf[:min(len(leaf), maxLeaf)], why), fades)
	if r.refusals.count == 1 {
		r.cfg.Logger.Warn("messages do not verify and are not heeded", "reason", why)
	}
}

// open verifies a message and decodes it into m. taken says whether the signature was
// good; then an error says what is wrong inside.
func (r *Room) open(topic, leaf string, payload []byte, m any) (taken bool, err error) {
	err = wire.Open(r.keys.Load().verifier, topic, payload, m)
	if err == nil {
		return true, nil
	}
	switch {
	case len(payload) > wire.MaxMessage:
		r.refuse(refusalSize, leaf)
	case protocol.CodeOf(err) == protocol.CodeDenied:
		r.refuse(refusalSignature, leaf)
		r.cfg.Heard.News("") // it may be the hub's next key
	default:
		if r.signedByHub(topic, payload) {
			return true, err // and not what it should be
		}
		r.refuse(refusalForm, leaf)
	}
	return false, err
}

// signedByHub says whether the hub sealed these bytes for the topic, whatever is in
// them.
func (r *Room) signedByHub(topic string, payload []byte) bool {
	e, err := wire.Inspect(payload)
	return err == nil && slices.ContainsFunc(r.keys.Load().keys, func(k ed25519.PublicKey) bool { return e.SignedBy(topic, k) })
}
