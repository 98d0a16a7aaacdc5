//go:build !race

package link

// The state of the model of several hubs: see model_test.go.

// What there is of one server's hold and claim in the store.
const (
	absent = iota
	active // of a hold: accepted; of a claim: wanted
	done   // of a hold: released; of a claim: its grant is made
	gone   // of a hold: released and removed; of a claim: it was booted
)

// What the hold document says of the hold, and the rack document of the grant.
const (
	saysNothing = iota
	saysHold    // or has the grant
	saysRelease
)

// sheet is a document: its version, the fence and run of the hub that sealed it, and what it says. Two sheets that are the
// same are the same to the byte, and no others are.
type sheet struct{ version, fence, run, says uint8 }

// keys are those of the store that matter to one rack.
type keys struct {
	counter          uint8 // the last number of a fence
	owner, number    uint8 // of the ledger: the run of a hub, from 1, and its fence
	version          uint8 // of the ledger: the highest
	hold, rack       sheet // that were sent last; version 0 is none
	heldAck, rackAck uint8 // versions that were acknowledged
	order            uint8 // the hold
	claim            uint8
}

// Which keys a commit writes or expects.
const (
	keyCounter = 1 << iota
	keyUnit
	keyLedger
	keyHold
	keyClaim
)

// take takes over keys.
func (k *keys) take(from keys, which uint8) {
	if which&keyCounter != 0 {
		k.counter = from.counter
	}
	if which&keyLedger != 0 {
		k.version, k.hold, k.rack, k.heldAck, k.rackAck = from.version, from.hold, from.rack, from.heldAck, from.rackAck
	}
	if which&keyUnit != 0 {
		k.owner, k.number = from.owner, from.number
	}
	if which&keyHold != 0 {
		k.order = from.order
	}
	if which&keyClaim != 0 {
		k.claim = from.claim
	}
}

// write is a commit that some hub's mirror has not come to yet. known is that the hub which made it has had the answer.
type write struct {
	after      keys
	which, run uint8
	known      bool
}

// token is a nonce: which run gave it to which session, and what the agent had acknowledged. A hub gives the same again as
// long as that is so.
type token struct{ run, session, held, rack uint8 }

// hubState is what one hub knows.
type hubState struct {
	run    uint8 // from 1; another one after each crash
	view   keys  // its mirror of the store
	at     uint8 // how far in the log
	ahead  uint8 // how far it has read the ledger alone; see flaws.refreshesAlone
	reach  uint8 // how far its mirror has to come until it works what it took
	number uint8 // that it took and has not used

	stage      uint8 // of stages
	now, asked token // nonces: of the present session, and one that has not come back
	greeted    uint8 // the session whose Hello was answered last
	freed      bool  // it has heard that the hold is off the agent's disk
	armed      bool  // it has heard that the grant was used
}

// agentState is what the agent has: on disk, and in memory.
type agentState struct {
	fence, run uint8 // followed
	hold, rack sheet // in force
	lies       uint8 // the hold: 0, 1, or 2 where a newer document left it out
	used       bool  // the grant
	armed      uint8 // how often it armed a boot by that
	let        bool  // it has ended the hold

	session  uint8
	answered bool
	nonce    token // the last that a hub gave
	own      bool  // in this session
}

// The messages.
const (
	msgNone  = iota
	msgAgain // Sync that asks for a Hello
	msgHeads // Sync that says what the agent should have
	msgHold
	msgRack
	msgHello
	msgApplied
	msgReport
)

// packet is a message on its way. A set of them is the network: it keeps no order, and what lies there may come twice, late
// or never.
type packet struct {
	kind, session, fence, run uint8
	nonce                     token
	a, b                      sheet // documents: the hold's and the rack's, or the one in question
	says                      uint8 // of a Report: 1 the hold lies, 2 the grant was used; of an Applied: the hold was released
}

const (
	maxLog = 4 // writes that a mirror may be behind
	maxNet = 4 // messages on their way; of more, the last is lost
	nHubs  = 2
)

// world is a state of the model.
type world struct {
	store keys
	log   [maxLog]write
	logs  uint8
	hubs  [nHubs]hubState
	agent agentState
	net   [maxNet]packet // sorted
	left  budget
}

// budget is what may still go wrong, and be ordered.
type budget struct{ takes, crashes, restarts, twice, unknown, orders uint8 }

// less orders packets.
func (p packet) less(o packet) bool {
	for _, c := range [...][2]uint8{
		{p.kind, o.kind},
		{p.session, o.session},
		{p.fence, o.fence},
		{p.run, o.run},
		{p.says, o.says},
		{p.nonce.run, o.nonce.run},
		{p.nonce.session, o.nonce.session},
		{p.nonce.held, o.nonce.held},
		{p.nonce.rack, o.nonce.rack},
		{p.a.version, o.a.version},
		{p.a.fence, o.a.fence},
		{p.a.run, o.a.run},
		{p.a.says, o.a.says},
		{p.b.version, o.b.version},
		{p.b.fence, o.b.fence},
		{p.b.run, o.b.run},
		{p.b.says, o.b.says},
	} {
		if c[0] != c[1] {
			return c[0] < c[1]
		}
	}
	return false
}

// send puts a message on its way; false where there is no room, or it is there already.
func (w *world) send(p packet) bool {
	i := 0
	for ; i < maxNet && w.net[i].kind != msgNone; i++ {
		if w.net[i] == p {
			return false
		}
	}
	if i == maxNet {
		return false
	}
	for ; i > 0 && p.less(w.net[i-1]); i-- {
		w.net[i] = w.net[i-1]
	}
	w.net[i] = p
	return true
}

// lose takes a message from its way.
func (w *world) lose(i int) {
	copy(w.net[i:], w.net[i+1:])
	w.net[maxNet-1] = packet{}
}

// fresh reports whether what a hub knows of keys is what the store has: a compare-and-set by it succeeds.
func (w *world) fresh(hub int, which uint8) bool {
	h := &w.hubs[hub]
	for i := h.at; i < w.logs; i++ {
		e := w.log[i]
		if i < h.ahead {
			e.which &^= keyLedger | keyUnit | keyCounter
		}
		if e.which&which != 0 && (e.run != h.run || !e.known) {
			return false
		}
	}
	return true
}

// commit writes keys; the hub hears of it where known. Who calls it has compared, and asked for room.
func (w *world) commit(hub int, after keys, which uint8, known bool) {
	h := &w.hubs[hub]
	w.store.take(after, which)
	w.log[w.logs] = write{after: w.store, which: which, run: h.run, known: known}
	w.logs++
	if known {
		h.view.take(w.store, which)
	}
	w.trim()
}

// full reports whether the log has no room, and makes some: two writes become one for a mirror that is so far behind. What
// a hub would do between the two is not looked at then.
func (w *world) full() bool {
	if w.logs < maxLog {
		return false
	}
	for i := range uint8(maxLog - 1) {
		a, b := w.log[i], w.log[i+1]
		if !w.joins(a, b, i) {
			continue
		}
		w.log[i] = write{after: b.after, which: a.which | b.which}
		if a.known && b.known && a.run == b.run {
			w.log[i].run, w.log[i].known = a.run, true
		}
		copy(w.log[i+1:], w.log[i+2:])
		w.logs--
		w.log[w.logs] = write{}
		for n := range w.hubs {
			if w.hubs[n].at > i {
				w.hubs[n].at--
			}
			if w.hubs[n].ahead > i {
				w.hubs[n].ahead--
			}
			if w.hubs[n].reach > i {
				w.hubs[n].reach--
			}
		}
		return false
	}
	return true
}

// joins reports whether two writes can become one: no mirror is between them, and no hub that has yet to see them has them
// in part.
func (w *world) joins(a, b write, i uint8) bool {
	for _, h := range w.hubs {
		own := func(e write) bool { return e.known && e.run == h.run }
		if h.at == i+1 || h.at <= i && own(a) != own(b) {
			return false
		}
	}
	return true
}

// refresh has a hub's mirror have the ledger, the unit and the number as they are, and nothing else.
func (w *world) refresh(hub int) {
	w.hubs[hub].view.take(w.store, keyLedger|keyUnit|keyCounter)
	w.hubs[hub].ahead = w.logs
}

// watch has a hub's mirror come one write further.
func (w *world) watch(hub int) {
	h := &w.hubs[hub]
	e := w.log[h.at]
	if h.at++; h.at <= h.ahead {
		e.which &^= keyLedger | keyUnit | keyCounter
	}
	if e.run != h.run || !e.known { // else it has that already, or what it wrote after it
		h.view.take(e.after, e.which)
	}
	w.trim()
}

// trim forgets what all mirrors have.
func (w *world) trim() {
	for w.logs > 0 && w.hubs[0].at > 0 && w.hubs[1].at > 0 {
		copy(w.log[:], w.log[1:])
		w.logs--
		w.log[w.logs] = write{}
		for i := range w.hubs {
			w.hubs[i].at--
			w.hubs[i].ahead = max(w.hubs[i].ahead, 1) - 1
			w.hubs[i].reach = max(w.hubs[i].reach, 1) - 1
		}
	}
}

// start is a start of a hub: it lists the store, and knows nothing of before.
func (w *world) start(hub int, run uint8) {
	w.hubs[hub] = hubState{run: run, view: w.store, at: w.logs}
	w.trim()
}
