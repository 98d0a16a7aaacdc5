package fence

import (
	"encoding/binary"
	"fmt"
	"sync"

	"rackboot/protocol/message"
	"rackboot/state/heads"
)

// Follows has now say what the store has; before the hub speaks with agents. Without it nothing is told,
// and nothing that agents were told is compared.
func (b *Start) Follows(now func() *heads.Checkpoint) {
	b.now = now
	b.began, _ = b.HubHead()
}

// HubHead is what agents are told of the store; false where nothing is known. What is told was on disk
// beside the store before.
func (b *Start) HubHead() (message.HubHead, bool) {
	if b.now == nil {
		return message.HubHead{}, false
	}
	c := b.now()
	if c == nil || c.Store == "" || c.Epoch != b.epoch { // of before the store was restored
		return message.HubHead{}, false
	}
	out := message.HubHead{Store: c.Store, Epoch: c.Epoch, Sequence: c.Sequence, Kinds: map[string]message.HubSum{}, AuditSeq: c.Audit.Seq, AuditHash: c.Audit.Hash, At: b.clock().UTC(), Hub: b.number.Hub}
	for kind, sum := range c.Kinds {
		out.Kinds[kind] = message.HubSum{Count: sum.Count, Digest: binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, sum.Digest[0]), sum.Digest[1])}
	}
	return out, true
}

// Told compares what an agent was told with what there is: the agent gives back what a start of this hub
// has signed. A store that has less was put back to before, or has lost it: from then on the hub only
// reads. The result says what is wrong of a store that is not the one that was told of; empty is nothing.
func (b *Start) Told(agent string, kept message.HubHead) (why string) {
	now, known := b.HubHead()
	if !known || kept.Store == "" {
		return ""
	}
	if kept.Hub != b.number.Hub && b.began.Store != "" {
		now = b.began
	}
	as := func(h message.HubHead) heads.Checkpoint {
		return heads.Checkpoint{Store: h.Store, Epoch: h.Epoch, Sequence: h.Sequence}
	}
	switch heads.Compare(as(kept), as(now)) {
	case heads.Foreign:
		return fmt.Sprintf("the agent was told of store %s, epoch %d, and the hub's is %s, epoch %d", kept.Store, kept.Epoch, now.Store, now.Epoch)
	case heads.Behind:
		switch {
		case b.Lost() != nil:
		case b.units != nil && kept.Hub != b.number.Hub:
			b.late.tell(agent, kept)
		default:
			b.lose(agent, kept, now)
		}
	case heads.Onward, heads.Replaced:
	}
	return ""
}

func (b *Start) lose(agent string, kept, now message.HubHead) {
	l := lossOf(kept, now)
	b.meta.Lose(l)
	b.log.Error("an agent was told of more than the hub's store has: the store was put back to before, or has lost it; from now on it only reads",
		"agent", agent, "told", kept.At, "lost", l.Error(), "hint", heads.Hint)
}

// lateTicks is for how many ticks of a second a hub may be behind what another one on the same store has seen.
const lateTicks = 30

// late is the most that an agent was told by another hub on the store and that this one has not seen yet: either it is
// behind, or the store has lost it.
type late struct {
	mu    sync.Mutex
	agent string
	kept  message.HubHead
	ticks int
}

func (l *late) tell(agent string, kept message.HubHead) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.agent == "" || kept.Sequence > l.kept.Sequence {
		l.agent, l.kept = agent, kept // the time of before counts: what was told before that is missing too
	}
}

// tick reports what was told and is missing for too long; now is what there is.
func (l *late) tick(now uint64) (agent string, kept message.HubHead, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.agent == "":
		return "", kept, false
	case l.kept.Sequence <= now:
		l.agent, l.ticks = "", 0
		return "", kept, false
	}
	l.ticks++
	return l.agent, l.kept, l.ticks > lateTicks
}

// seeLate judges what other hubs have told, each second.
func (b *Start) seeLate() {
	now, known := b.HubHead()
	if !known || b.Lost() != nil {
		return
	}
	if agent, kept, lost := b.late.tick(now.Sequence); lost {
		b.lose(agent, kept, now)
	}
}

// lossOf says what is missing, as far as numbers tell: agents were told no names.
func lossOf(kept, now message.HubHead) *heads.Loss {
	l := &heads.Loss{Store: kept.Store, Unlisted: true, Counts: map[string]uint64{}, Streams: []heads.Shrunk{
		{Stream: "of the store, as agents were told", Was: heads.Extent{Sequence: kept.Sequence}, Is: heads.Extent{Sequence: now.Sequence}},
	}}
	for kind, was := range kept.Kinds {
		if string(was.Digest) != string(now.Kinds[kind].Digest) {
			l.Counts[kind] = was.Count
		}
	}
	return l
}
