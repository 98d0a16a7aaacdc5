package link

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// Enter gives an agent's documents, those that put puts, a version where their content
// differs from what was last sent, and writes them to its ledger.
func (c *Room) Enter(ctx context.Context, agent string, put func(*Entry)) (written bool, err error) {
	var e Entry
	_, written, err = c.Ledgers.change(ctx, agent, func(l *store.Ledger) bool {
		e = Entry{ledger: l, agent: agent, signer: c.cfg.Signer, epoch: c.cfg.Start.Epoch(), fence: c.cfg.Start.FenceFor(agent), now: c.cfg.Clock()}
		put(&e)
		return e.err == nil && e.changed
	})
	if err = errors.Join(e.err, err); err != nil || !written {
		return false, err
	}
	c.cfg.Crash.At("hub.ledger.written")
	c.delivery.sends.again(agent)
	return true, nil
}

// Entry is a change of one ledger.
type Entry struct {
	ledger  *store.Ledger
	agent   string
	signer  *wire.Signer
	epoch   uint64
	fence   message.Fence
	now     time.Time
	changed bool
	err     error
}

// Put takes a document without head, time and fence; if it is news, it fills them
// and seals it. So it does with one that another start of the hub sealed and that was
// not acknowledged: agents refuse an earlier fence. The sealed bytes are kept, so that
// a document that is sent again is the same to the byte.
func (e *Entry) Put(leaf string, doc any, head *protocol.Head, issued *time.Time, fence *message.Fence) {
	*head, *issued, *fence = protocol.Head{}, time.Time{}, message.Fence{} // of an earlier try
	content, err := json.Marshal(doc)
	if err != nil {
		e.err = errors.Join(e.err, err)
		return
	}
	digest := wire.Digest(content)
	if !seals(e.ledger, leaf, digest, e.epoch, e.fence.Number) {
		return
	}
	e.ledger.Version = Latest(*e.ledger) + 1
	*head, *issued, *fence = protocol.Head{Epoch: e.epoch, Version: e.ledger.Version}, e.now, e.fence
	body, err := wire.Seal(e.signer, message.TopicDown(e.agent, leaf), doc)
	if err != nil {
		e.err = errors.Join(e.err, err)
		return
	}
	e.ledger.Sent[leaf] = store.SentDoc{Head: *head, Body: body, Digest: digest, Fence: e.fence.Number, Sealed: wire.Digest(body)}
	e.changed = true
}

// seals reports whether a document with a content is to have another version: it is news, or another start of the hub
// sealed it and it was not acknowledged.
func seals(l *store.Ledger, leaf, digest string, epoch, fence uint64) bool {
	have, sent := l.Sent[leaf]
	acked := sent && l.Acked[leaf] == have.Head
	return !sent || have.Digest != digest || have.Head.Epoch != epoch || !acked && have.Fence != fence
}

// PutRacks takes all shards of a rack.
func (e *Entry) PutRacks(docs []message.RackDoc) {
	for i := range docs {
		d := &docs[i]
		e.Put(RackLeaf(d.Shard), d, &d.Head, &d.IssuedAt, &d.Fence)
	}
	e.dropFrom(len(docs))
}

// dropFrom forgets the shards from the given one on: the rack has fewer servers.
func (e *Entry) dropFrom(shard int) {
	for i := shard; ; i++ {
		if _, ok := e.ledger.Sent[RackLeaf(i)]; !ok {
			return
		}
		delete(e.ledger.Sent, RackLeaf(i))
		delete(e.ledger.Acked, RackLeaf(i)) // what comes back was not acknowledged
		e.changed = true
	}
}
