package link

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// contact is what the hub knows of one agent in this run.
type contact struct {
	nonces   nonces
	progress progress
	sent     sentDocs
	speakers speakers
	limits   limits
	guarding guarding
	greeted  string // the session whose Hello was answered last
	// overheard is the session of an agent that another hub works.
	overheard string
	// told is the sequence of the newest word on the hub's store that the agent has said that it keeps.
	told     uint64
	head     message.StoreHead // the furthest that the agent has said of its store
	reverted reverted

	tail     map[string]uint64 // the first event to come, by incarnation
	askedAt  time.Time         // the last message that asked for a Hello
	nextSync time.Time
	refused  refusals
	limit    *rate.Limiter
	key      []byte // of the agent
	verifier *wire.Verifier
}

// limits are what an agent cannot do of what its documents want, by server.
type limits struct {
	tooOld   map[string][]message.Capability
	unheeded map[string][]string
}

// sentDocs are the documents that an agent was sent and has not acknowledged.
type sentDocs struct {
	open    map[string]openDoc // by leaf
	settled uint64             // revision of the ledger at which all of it was acknowledged
}

// openDoc is a document that goes out again and again.
type openDoc struct {
	head  protocol.Head
	since time.Time
}

// The messages that one agent may send: 200/s, and 2,000 at once. A client that places
// and releases holds as fast as it can makes some 150/s.
const (
	messageRate  = 200
	messageBurst = 2000
)

// contacts are those of the agents that sent something or are sent something. There
// are not more than agents.
type contacts struct {
	mu      sync.Mutex
	byAgent map[string]*contact
}

func newContacts() *contacts { return &contacts{byAgent: map[string]*contact{}} }

// with runs do on an agent's contact, one at a time.
func (cs *contacts) with(agent string, do func(*contact)) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	k := cs.byAgent[agent]
	if k == nil {
		k = &contact{
			progress: progress{stage: stageSilent}, tail: map[string]uint64{}, sent: sentDocs{open: map[string]openDoc{}},
			limit: rate.NewLimiter(messageRate, messageBurst),
		}
		cs.byAgent[agent] = k
	}
	do(k)
}

// see is a copy for reading; its maps must not be touched.
func (cs *contacts) see(agent string) (k contact) {
	k.progress.stage = stageSilent
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if there := cs.byAgent[agent]; there != nil {
		k = *there
		k.sent.open, k.limits.tooOld, k.limits.unheeded = maps.Clone(there.sent.open), maps.Clone(there.limits.tooOld), maps.Clone(there.limits.unheeded)
	}
	return k
}

func (cs *contacts) drop(agent string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.byAgent, agent)
}

// names are the agents that have a contact, in no order.
func (cs *contacts) names() []string {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	out := make([]string, 0, len(cs.byAgent))
	for name := range cs.byAgent {
		out = append(out, name)
	}
	return out
}

// heeds says whether a message with the nonce belongs to the agent's present
// session. The first one with a nonce that was given makes its session the present. twins says that two
// agents are known to speak, so that messages of both count; else it says whose the message is, and which
// session was taken over from.
func (k *contact) heeds(session, nonce string, twins bool) (ok bool, who speaker, former string) {
	n := &k.nonces
	if i := n.given(session, nonce); i >= 0 {
		n.take(i, twins)
	}
	if !n.now.is(session, nonce) {
		return false, speakerSame, ""
	}
	if twins {
		return true, speakerSame, ""
	}
	if who, former = k.speakers.speaks(n.now.session, n.now.era == n.era); who == speakerNew || who == speakerBack {
		n.era++
		n.asked = nil
	}
	return true, who, former
}

// headOf is the head that the hub knows of the agent's present store.
func (k *contact) headOf(l *store.Ledger) message.StoreHead {
	return newest(l.Peer.Incarnation, l.Peer.Head, k.head)
}

// give and begin are those of the nonces, with what the hub knows now.
func (k *contact) give(session string, l *store.Ledger, fresh func() string) string {
	return k.nonces.give(session, l.Acked, k.headOf(l), fresh)
}

func (k *contact) begin(session string, l *store.Ledger, nonce string) {
	k.nonces.begin(session, l.Acked, k.headOf(l), nonce)
}
