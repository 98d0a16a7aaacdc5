package link

import (
	"errors"
	"strings"

	"rackboot/agent/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Receive takes one message. It returns after what the message says is on disk.
// It is called from one goroutine.
func (r *Room) Receive(topic string, payload []byte) {
	if topic == message.TopicAnnounce {
		var m message.Announce
		if _, err := r.open(topic, "announce", payload, &m); err == nil {
			r.announced(m)
		}
		return
	}
	agent, direction, leaf, ok := message.SplitTopic(topic)
	if !ok || agent != r.cfg.Agent || direction != "d" {
		r.refuse(refusalTopic, topic)
		return
	}
	if leaf != message.LeafSync && r.Over() {
		return
	}
	var err error
	taken := true
	if leaf != message.LeafSync && leaf != message.LeafAsk && r.hub.isBehind() {
		return // what it lacks may be why this names less: it comes again when the hub has it
	}
	switch {
	case leaf == message.LeafSync:
		var m message.Sync
		if _, err := r.open(topic, leaf, payload, &m); err == nil {
			r.sync(m)
		}
		return
	case leaf == message.LeafAsk:
		var m message.Ask
		if _, err := r.open(topic, leaf, payload, &m); err == nil {
			r.cfg.Heard.Ask(m)
		}
		return
	case leaf == message.LeafHold:
		var m message.HoldDoc
		if taken, err = r.open(topic, leaf, payload, &m); err == nil {
			err = r.cfg.Heard.Holds(m, leaf, wire.Digest(payload))
		}
	case strings.HasPrefix(leaf, message.LeafRack+"/"):
		var m message.RackDoc
		if taken, err = r.open(topic, leaf, payload, &m); err == nil {
			err = r.cfg.Heard.Rack(m, leaf, wire.Digest(payload))
		}
	default:
		r.cfg.Logger.Debug("unknown message", "topic", topic)
	}
	if taken && err != nil {
		r.refuseDocument(leaf, err)
	}
}

// refuseDocument says why a document that was properly signed is not applied.
func (r *Room) refuseDocument(leaf string, err error) {
	switch {
	case errors.Is(err, store.ErrAhead):
		r.ask(0) // its hub must answer first
		return
	case errors.Is(err, store.ErrOlder) && r.isNewest(leaf):
		r.cfg.Logger.Debug("a late copy of an older document", "doc", leaf)
		return
	case errors.Is(err, store.ErrFenced):
		r.cfg.Reports.RaiseFor(resource.CondTwoHubs, err.Error(), fades)
	default:
		r.Trouble(resource.CondDocumentRefused, leaf, err.Error())
	}
	r.cfg.Logger.Error("document refused", "doc", leaf, "err", err)
	r.Acknowledge(message.Applied{Doc: leaf, Refused: err.Error()})
}

// Acknowledge says what became of a document.
func (r *Room) Acknowledge(m message.Applied) {
	if r.on.guards() {
		return // nothing is on disk
	}
	fence, err := r.cfg.Store.Term.Fence()
	if err != nil {
		r.cfg.Logger.Error("cannot read the fence", "err", err)
		return
	}
	_, m.Nonce = r.session.names()
	m.Fence, m.StoreHead = fence, r.heads.now(r.session.hasMet())
	r.publish(message.LeafApplied, m)
}

// isNewest says whether the document in force is the newest that the hub is known
// to have. An older one that comes then was late on its way, which is no trouble; if
// the hub itself has only older ones, it is.
func (r *Room) isNewest(leaf string) bool {
	in, err := r.cfg.Store.Documents.Applied()
	return err == nil && r.session.isNewest(leaf, in.Heads[leaf])
}
