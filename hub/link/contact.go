package link

import (
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"rackboot/hub/reports"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// stage is how far the hub may act towards an agent in this run. Before Ready it
// makes no version of its documents: it may have been restored from a copy, and its
// versions would overtake the lost hub's, whose holds they do not have.
type stage string

const (
	stageSilent   stage = "silent"   // no fresh Hello since the hub started
	stageAdopting stage = "adopting" // greeted and not in step: its reports come first
	stageReady    stage = "ready"
	stageBehind   stage = "behind" // it has documents that this hub never made
)

var stages = []stage{stageSilent, stageAdopting, stageReady, stageBehind}

// adoptWait bounds the wait for the reports of all shards, which come every 15 s. A
// hold that was not adopted in time is reported as missing and adopted then.
const adoptWait = time.Minute

// slot is a nonce that was given to one session of an agent, and what the agent had
// acknowledged before.
type slot struct {
	session, nonce string
	acked          map[string]protocol.Head
}

// is says whether a message is of the slot. One that names no session, which an
// Applied does not, is known by its nonce.
func (s slot) is(session, nonce string) bool {
	return nonce != "" && s.nonce == nonce && (session == "" || s.session == session)
}

// contact is what the hub knows of one agent in this run.
type contact struct {
	now   slot // the session whose messages count
	asked slot // given, and not come back yet
	// answered is the nonce of the announcement that a Hello answered: each proves
	// one Hello to be new.
	answered string

	stage    stage
	why      string    // of stageBehind
	byHello  bool      // of stageBehind: a report, which has no digests, cannot end it
	greeting string    // the session of stageAdopting
	heard    []bool    // its shards that reported
	since    time.Time // of the stage

	tail     map[string]uint64 // the first event to come, by incarnation
	askedAt  time.Time         // the last message that asked for a Hello
	heardAt  time.Time         // the last message that counted
	nextSync time.Time
	open     map[string]openDoc // what is not acknowledged, by leaf
	settled  uint64             // revision of the ledger at which all of it was acknowledged
	tooOld   map[string][]message.Capability
	unheeded map[string][]string
	refused  refusals
	limit    *rate.Limiter
	key      []byte // of the agent
	verifier *wire.Verifier

	speaking              string   // the last session that certainly spoke
	past                  []string // those before it
	back                  bool     // one of those spoke again, and nobody was told yet
	copiedSince, copiedAt time.Time
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
			stage: stageSilent, tail: map[string]uint64{}, open: map[string]openDoc{},
			limit: rate.NewLimiter(messageRate, messageBurst),
		}
		cs.byAgent[agent] = k
	}
	do(k)
}

// see is a copy for reading; its maps must not be touched.
func (cs *contacts) see(agent string) (k contact) {
	k.stage = stageSilent
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if there := cs.byAgent[agent]; there != nil {
		k = *there
		k.open, k.tooOld, k.unheeded = maps.Clone(there.open), maps.Clone(there.tooOld), maps.Clone(there.unheeded)
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

// proof says how far a Hello proves that it is new, and what had been acknowledged
// when its nonce was given.
func (k *contact) proof(m message.Hello, announced string) (proof, map[string]protocol.Head) {
	switch {
	case k.now.is(m.Session, m.Nonce):
		return proofSure, k.now.acked
	case k.asked.is(m.Session, m.Nonce):
		return proofSure, k.asked.acked
	case m.Nonce != "" && m.Session != k.now.session && m.Nonce == k.now.nonce, m.Nonce != "" && m.Nonce == announced && k.answered != announced:
		return proofFresh, nil
	}
	return proofNone, nil
}

// heeds says whether a message with the nonce belongs to the agent's present
// session. The first one with a nonce that was given makes its session the present.
func (k *contact) heeds(session, nonce string) bool {
	if k.asked.is(session, nonce) {
		k.now, k.asked = k.asked, slot{}
	}
	ok := k.now.is(session, nonce)
	if ok && k.speaks(k.now.session) {
		k.back = true
	}
	return ok
}

// begin makes a session the present one, unless it is.
func (k *contact) begin(session string, acked map[string]protocol.Head, nonce string) {
	if k.now.session != session || k.now.nonce == "" {
		k.now, k.asked = slot{session, nonce, maps.Clone(acked)}, slot{}
	}
}

// give returns the nonce of a session. acked is what the agent has acknowledged; a
// nonce that was given before it acknowledged some of that proves less.
func (k *contact) give(session string, acked map[string]protocol.Head, fresh func() string) string {
	if k.asked.session != session || k.asked.nonce == "" || !maps.Equal(k.asked.acked, acked) {
		k.asked = slot{session, fresh(), maps.Clone(acked)}
	}
	return k.asked.nonce
}

// nonceOf is the nonce that a session has; empty if it has none.
func (k *contact) nonceOf(session string) string {
	switch session {
	case k.now.session:
		return k.now.nonce
	case k.asked.session:
		return k.asked.nonce
	}
	return ""
}

// judge moves the stage along after a Hello, or another message that counts.
func (k *contact) judge(behind string, inStep, hello bool, session string, now time.Time) {
	switch {
	case behind != "":
		k.to(stageBehind, now)
		k.why, k.byHello = behind, hello
	case k.stage == stageBehind && k.byHello && !hello:
	case k.stage == stageReady:
	case inStep:
		k.to(stageReady, now)
	case k.stage != stageAdopting || k.greeting != session:
		k.to(stageAdopting, now)
		k.greeting, k.heard = session, nil
	}
}

func (k *contact) to(s stage, now time.Time) {
	if k.stage != s {
		k.stage, k.since, k.why = s, now, ""
	}
}

// reported notes that a shard's report was taken over.
func (k *contact) reported(session string, shard, shards int, now time.Time) {
	if k.stage != stageAdopting || session != k.greeting || shard < 0 || shard >= reports.MaxShards || shards > reports.MaxShards {
		return
	}
	for len(k.heard) < max(1, shards, shard+1) {
		k.heard = append(k.heard, false)
	}
	k.heard[shard] = true
	for _, h := range k.heard {
		if !h {
			return
		}
	}
	k.to(stageReady, now)
}

// proof is how far a Hello proves that it is not an old one which somebody plays
// back, or which was late on its way.
type proof string

const (
	// proofNone: any Hello of the past.
	proofNone proof = "none"
	// proofFresh: said since the hub announced itself, or since the last session.
	proofFresh proof = "fresh"
	// proofSure: said after the nonce of its session was given. What was
	// acknowledged before that and is gone, is gone from the agent's disk.
	proofSure proof = "sure"
)

// pastSessions bounds the sessions of an agent that are remembered as over.
const pastSessions = 8

// speaks notes a session of which a message is certainly new, and says whether it is one that
// another has taken over from. An agent never goes back to an earlier session: each
// connection makes its own. So two processes speak in turn, with one key.
func (k *contact) speaks(session string) (back bool) {
	if session == k.speaking {
		return false
	}
	back = slices.Contains(k.past, session)
	if k.speaking != "" && !slices.Contains(k.past, k.speaking) {
		k.past = append(k.past, k.speaking)
		k.past = k.past[max(0, len(k.past)-pastSessions):]
	}
	k.speaking = session
	return back
}
