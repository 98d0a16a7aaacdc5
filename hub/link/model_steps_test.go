//go:build !race

package link

import (
	"fmt"
	"strings"

	"rackboot/hub/plan/hubs"
	"rackboot/integration/explore"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
)

// flaws are rules that the model breaks on purpose, to show that it would notice.
type flaws struct {
	effectsUnowned  bool // a hub's effects do not expect that it still has the rack
	fenceStays      bool // who takes a rack does not raise its fence
	absenceReleases bool // an agent drops a hold that a newer document leaves out
	anyFence        bool // an agent takes documents of any fence
	publishFirst    bool // a hub sends a document before it is in the ledger
	versionsAgain   bool // who takes a rack counts versions from what was acknowledged
	grantBlind      bool // a grant is made without comparing the claim
	takeBlind       bool // a rack is taken without comparing its ledger
	removesEarly    bool // a released hold leaves the store before it is off the agent's disk
	armsFirst       bool // the use of a grant is not on disk when it is armed
	oldNumber       bool // a rack is taken with a number that is not above the ledger's
	keepsContact    bool // a hub that takes a rack believes nonces that it gave before it lost that
	refreshesAlone  bool // a hub that lost reads the ledger alone, ahead of the rest of its mirror
	worksAtOnce     bool // a hub works what it took before its mirror has what was written before
	unburied        bool // a hold that an agent has and nobody knows is adopted without asking whether it was released
}

// The steps.
const (
	stepWatch = iota
	stepNumber
	stepTake
	stepEnter
	stepSend
	stepAsk
	stepSync
	stepGrant
	stepBooted
	stepRemove
	stepHear
	stepCrash
	stepOrder
	stepReceive
	stepHello
	stepReport
	stepBoot
	stepRestart
	stepLose
	stepRefresh
)

// How a step went: flags of Step.Which, above the number of a message or a leaf.
const (
	kept    = 16 // a message stays on its way, and comes again
	unheard = 32 // the store wrote, and the hub was not told
)

// system is the model: production's answers, and what is broken on purpose.
type system struct {
	ask   *answers
	flaws flaws
}

// next gives all that may happen in a state.
func (m *system) next(w world, to func(explore.Step, world, string)) {
	for hub := range nHubs {
		m.hubSteps(w, hub, to)
	}
	m.agentSteps(w, to)
	for i, p := range w.net {
		if p.kind == msgNone {
			break
		}
		n := w
		n.lose(i)
		to(explore.Step{What: stepLose, Which: uint8(i)}, n, "")
		for _, again := range [...]uint8{0, kept} {
			n := w
			if again == 0 {
				n.lose(i)
			} else if n.left.twice == 0 {
				continue
			} else {
				n.left.twice--
			}
			if p.kind < msgHello {
				ok, wrong := m.receive(&n, p)
				if ok || again == 0 {
					to(explore.Step{What: stepReceive, Which: uint8(i) + again}, n, wrong)
				}
				continue
			}
			for hub := range nHubs {
				heard := n
				ok, wrong := m.hear(&heard, hub, p, true)
				if !ok {
					continue
				}
				to(explore.Step{What: stepHear, Who: uint8(hub), Which: uint8(i) + again}, heard, wrong)
				if n := n; heard.store != n.store && n.left.unknown > 0 {
					n.left.unknown--
					_, wrong := m.hear(&n, hub, p, false)
					to(explore.Step{What: stepHear, Who: uint8(hub), Which: uint8(i) + again + unheard}, n, wrong)
				}
			}
		}
	}
}

// hubSteps are those of a hub by itself. A hub that is stopped takes none.
func (m *system) hubSteps(w world, hub int, to func(explore.Step, world, string)) {
	if w.hubs[hub].at < w.logs {
		n := w
		n.watch(hub)
		to(explore.Step{What: stepWatch, Who: uint8(hub)}, n, "")
	}
	if m.flaws.refreshesAlone && !w.fresh(hub, keyLedger|keyUnit) {
		n := w
		n.refresh(hub)
		to(explore.Step{What: stepRefresh, Who: uint8(hub)}, n, "")
	}
	if w.left.crashes > 0 {
		n := w
		n.left.crashes--
		n.start(hub, n.hubs[hub].run+nHubs)
		to(explore.Step{What: stepCrash, Who: uint8(hub)}, n, "")
	}
	type act struct {
		what, which uint8
		do          func(n *world, known bool) (bool, string)
	}
	acts := [...]act{
		{stepNumber, 0, func(n *world, known bool) (bool, string) { return m.number(n, hub, known) }},
		{stepTake, 0, func(n *world, known bool) (bool, string) { return m.takes(n, hub, known) }},
		{stepEnter, 0, func(n *world, known bool) (bool, string) { return m.enter(n, hub, 0, known) }},
		{stepEnter, 1, func(n *world, known bool) (bool, string) { return m.enter(n, hub, 1, known) }},
		{stepGrant, 0, func(n *world, known bool) (bool, string) { return m.grants(n, hub, known) }},
		{stepBooted, 0, func(n *world, known bool) (bool, string) { return m.booted(n, hub, known) }},
		{stepRemove, 0, func(n *world, known bool) (bool, string) { return m.remove(n, hub, known) }},
		{stepOrder, 0, func(n *world, known bool) (bool, string) { return m.holds(n, hub, known) }},
		{stepOrder, 1, func(n *world, known bool) (bool, string) { return m.releases(n, hub, known) }},
		{stepOrder, 2, func(n *world, known bool) (bool, string) { return m.claims(n, hub, known) }},
	}
	for _, a := range acts {
		n := w
		ok, wrong := a.do(&n, true)
		if !ok {
			continue
		}
		to(explore.Step{What: a.what, Who: uint8(hub), Which: a.which}, n, wrong)
		if n := w; n.left.unknown > 0 {
			n.left.unknown--
			if ok, wrong := a.do(&n, false); ok {
				to(explore.Step{What: a.what, Who: uint8(hub), Which: a.which + unheard}, n, wrong)
			}
		}
	}
	for leaf := range leaves {
		if n := w; m.send(&n, hub, leaf) {
			to(explore.Step{What: stepSend, Who: uint8(hub), Which: uint8(leaf)}, n, "")
		}
	}
	if n := w; m.asks(&n, hub) {
		to(explore.Step{What: stepAsk, Who: uint8(hub)}, n, "")
	}
	if n := w; m.syncs(&n, hub) {
		to(explore.Step{What: stepSync, Who: uint8(hub)}, n, "")
	}
}

// owns reports whether a hub works the rack, as far as it knows.
func (m *system) owns(h *hubState) bool {
	return (h.at >= h.reach || m.flaws.worksAtOnce) && m.ask.works(decideQuestion{h.view.owner, h.run, true}) == hubs.Works
}

// mayTake reports whether a hub takes the rack in some view of who is alive.
func (m *system) mayTake(h *hubState) bool {
	for _, other := range [...]bool{false, true} {
		if m.ask.works(decideQuestion{h.view.owner, h.run, other}) == hubs.Takes {
			return true
		}
	}
	return false
}

// effect says what is wrong of an effect that a hub has on the rack in the store.
func (w *world) effect(hub int) string {
	if w.store.owner != w.hubs[hub].run {
		return fmt.Sprintf("%s has an effect on a rack that %s has taken", runName(w.hubs[hub].run), runName(w.store.owner))
	}
	return ""
}

// number takes the next number of a fence.
func (m *system) number(w *world, hub int, known bool) (bool, string) {
	h := &w.hubs[hub]
	if w.left.takes == 0 || h.number > h.view.number || w.full() || !m.mayTake(h) || !w.fresh(hub, keyCounter) {
		return false, ""
	}
	w.left.takes--
	after := w.store
	after.counter = h.view.counter + 1
	w.commit(hub, after, keyCounter, known)
	if known {
		h.number = after.counter
	}
	return true, ""
}

// takes makes a hub the rack's.
func (m *system) takes(w *world, hub int, known bool) (bool, string) {
	h := &w.hubs[hub]
	number := h.number
	if number == 0 || number <= h.view.number && !m.flaws.oldNumber || w.full() || !m.mayTake(h) || !w.fresh(hub, keyUnit) && !m.flaws.takeBlind {
		return false, ""
	}
	if m.flaws.fenceStays {
		number = max(1, h.view.number)
	}
	after := h.view
	after.owner, after.number = h.run, number
	wrong := ""
	if after.number <= w.store.number && w.store.number > 0 {
		wrong = fmt.Sprintf("%s takes the rack with fence %d, and it had %d", runName(h.run), after.number, w.store.number)
	}
	w.commit(hub, after, keyUnit, known)
	h.number = 0
	h.reach = w.logs
	if !m.flaws.keepsContact {
		h.forget()
	}
	return true, wrong
}

// forget has a hub know nothing of the agent.
func (h *hubState) forget() {
	h.stage, h.now, h.asked, h.greeted, h.freed, h.armed = 0, token{}, token{}, 0, false, false
}

// saysOf is what a hub's documents say by its view.
func (h *hubState) saysOf(leaf int) uint8 {
	switch {
	case leaf == 0 && h.view.order == active:
		return saysHold
	case leaf == 0 && h.view.order == done:
		return saysRelease
	case leaf == 1 && h.view.claim >= done:
		return saysHold
	}
	return saysNothing
}

// enter seals a document anew.
func (m *system) enter(w *world, hub, leaf int, known bool) (bool, string) {
	h := &w.hubs[hub]
	says := h.saysOf(leaf)
	if w.full() || h.stage != stageOf(stageReady) || !m.owns(h) || h.view.version >= 200 || !m.ask.sealing(sealsQuestion{h.view.only(), leaf, says, h.view.number}) {
		return false, ""
	}
	after := h.view
	after.version = uint8(Latest(*h.view.ledger())) + 1
	if m.flaws.versionsAgain {
		after.version = *h.view.acked(leaf) + 1
	}
	s := sheet{after.version, h.view.number, h.run, says}
	*after.sheet(leaf) = s
	sent := m.flaws.publishFirst && w.send(packet{kind: msgHold + uint8(leaf), a: s})
	if !w.fresh(hub, m.with(keyLedger)) {
		return sent, ""
	}
	w.commit(hub, after, keyLedger, known)
	return true, w.effect(hub)
}

func (m *system) grants(w *world, hub int, known bool) (bool, string) {
	h := &w.hubs[hub]
	if h.view.claim != active || w.full() || !m.owns(h) || h.stage != stageOf(stageReady) {
		return false, ""
	}
	compares := m.with(keyClaim)
	if m.flaws.grantBlind {
		compares = m.with(0)
	}
	if !w.fresh(hub, compares) {
		return false, ""
	}
	wrong := w.effect(hub)
	if w.store.claim >= done {
		wrong = "the claim's grant is made twice"
	}
	after := w.store
	after.claim = done
	w.commit(hub, after, keyClaim, known)
	return true, wrong
}

// booted files that the grant was used.
func (m *system) booted(w *world, hub int, known bool) (bool, string) {
	h := &w.hubs[hub]
	if h.view.claim != done || !h.armed || w.full() || !m.owns(h) || !w.fresh(hub, m.with(keyClaim)) {
		return false, ""
	}
	after := w.store
	after.claim = gone
	w.commit(hub, after, keyClaim, known)
	return true, w.effect(hub)
}

// with are the keys that an effect on one compares.
func (m *system) with(key uint8) uint8 {
	if m.flaws.effectsUnowned {
		return key
	}
	return key | keyUnit
}

// remove forgets a hold whose release is on the agent's disk.
func (m *system) remove(w *world, hub int, known bool) (bool, string) {
	h := &w.hubs[hub]
	v := &h.view
	laid := v.hold.version > 0 && v.heldAck == v.hold.version && v.hold.says == saysRelease
	if v.order != done || w.full() || !m.owns(h) || !h.freed && !laid && !m.flaws.removesEarly || !w.fresh(hub, m.with(keyHold)) {
		return false, ""
	}
	after := w.store
	after.order = gone
	w.commit(hub, after, keyHold, known)
	h.freed = true // noted before it is written
	wrong := w.effect(hub)
	if wrong == "" && w.agent.lies > 0 {
		wrong = "a hold left the store that lies at the agent"
	}
	return true, wrong
}

// holds, releases and claims are what people order, at any hub.
func (m *system) holds(w *world, hub int, known bool) (bool, string) {
	return m.orders(w, hub, known, keyHold, w.hubs[hub].view.order == absent && w.agent.lies == 0, func(k *keys) { k.order = active })
}

func (m *system) releases(w *world, hub int, known bool) (bool, string) {
	return m.orders(w, hub, known, keyHold, w.hubs[hub].view.order == active, func(k *keys) { k.order = done })
}

func (m *system) claims(w *world, hub int, known bool) (bool, string) {
	return m.orders(w, hub, known, keyClaim, w.hubs[hub].view.claim == absent, func(k *keys) { k.claim = active })
}

func (m *system) orders(w *world, hub int, known bool, key uint8, may bool, change func(*keys)) (bool, string) {
	if !may || w.left.orders == 0 || w.full() || !w.fresh(hub, key) {
		return false, ""
	}
	w.left.orders--
	after := w.store
	change(&after)
	w.commit(hub, after, key, known)
	return true, ""
}

// send sends a document that the agent has not acknowledged.
func (m *system) send(w *world, hub, leaf int) bool {
	h := &w.hubs[hub]
	if h.stage != stageOf(stageReady) || !m.owns(h) {
		return false
	}
	owes := m.ask.owes(owedQuestion{h.view.only(), h.view.number})
	if leaf == 0 && !owes.hold || leaf == 1 && !owes.rack {
		return false
	}
	return w.send(packet{kind: msgHold + uint8(leaf), a: *h.view.sheet(leaf)})
}

// give is the nonce of a session; see nonces.give.
func (h *hubState) give(session uint8) token {
	h.asked = token{h.run, session, h.view.heldAck, h.view.rackAck}
	return h.asked
}

// asks asks the agent's session for a Hello: the hub knows it by reports, whose nonce it never gave.
func (m *system) asks(w *world, hub int) bool {
	h := &w.hubs[hub]
	if !m.owns(h) || h.greeted == w.agent.session {
		return false
	}
	return w.send(packet{kind: msgAgain, session: w.agent.session, nonce: h.give(w.agent.session), fence: h.view.number, run: h.run})
}

// syncs says unasked what the agent should have.
func (m *system) syncs(w *world, hub int) bool {
	h := &w.hubs[hub]
	if !m.owns(h) || h.greeted == 0 || h.greeted != h.now.session || h.stage == stageOf(stageSilent) {
		return false
	}
	return w.send(h.heads(h.now))
}

func (h *hubState) heads(nonce token) packet {
	return packet{kind: msgHeads, session: nonce.session, nonce: nonce, fence: h.view.number, run: h.run, a: h.view.hold, b: h.view.rack}
}

func stageOf(s stage) uint8 {
	for i, known := range stages {
		if s == known {
			return uint8(i)
		}
	}
	panic("an unknown stage")
}

// yields reports whether the agent follows a newer hub than this one was when it took the rack.
func (h *hubState) yields(fence, run uint8) bool {
	own, follows := fenceOf(h.view.number, h.run), fenceOf(fence, run)
	return follows.Number != 0 && (follows.Newer(own) || follows.Rivals(own))
}

// counts reports whether a message is of the agent's present session, and makes a session that was asked the present one.
func (h *hubState) counts(nonce token) bool {
	if nonce == (token{}) {
		return false
	}
	if nonce == h.asked {
		h.now, h.asked = h.asked, token{}
	}
	return nonce == h.now
}

// hear has a hub take a message of the agent; false where it changes nothing.
func (m *system) hear(w *world, hub int, p packet, known bool) (bool, string) {
	h := &w.hubs[hub]
	if !m.owns(h) || h.yields(p.fence, p.run) {
		return false, ""
	}
	switch p.kind {
	case msgHello:
		return m.hello(w, hub, p, known)
	case msgApplied:
		return m.applied(w, hub, p, known)
	case msgReport:
		return m.report(w, hub, p, known)
	}
	return false, ""
}

func (m *system) hello(w *world, hub int, p packet, known bool) (bool, string) {
	h := &w.hubs[hub]
	proved := proofNone
	switch {
	case h.counts(p.nonce) && p.nonce.session == p.session:
		proved = proofSure
	case p.nonce != (token{}) && p.nonce == h.now && p.session != h.now.session:
		proved = proofFresh
	}
	a := m.ask.hellos(helloQuestion{h.view.only(), p.a, p.b, h.stage != stageOf(stageSilent), proved, p.nonce})
	switch a.verdict {
	case verdictAsk:
		w.send(packet{kind: msgAgain, session: p.session, nonce: h.give(p.session), fence: h.view.number, run: h.run})
		return true, ""
	case verdictRenew, verdictMeet, verdictGuard:
		return true, fmt.Sprintf("%s says %s to an agent whose disk is whole", runName(h.run), a.verdict)
	case verdictAnswer:
	}
	if a.changed {
		if w.full() || !w.fresh(hub, m.with(keyLedger)) {
			return false, "" // it comes again
		}
		after := a.ledger
		w.commit(hub, after, keyLedger, known)
		if wrong := w.effect(hub); wrong != "" || !known {
			return true, wrong // who is not told that it wrote does not answer
		}
	}
	answer := h.now
	switch {
	case proved == proofSure:
	case proved == proofFresh, h.now.session != p.session:
		answer = token{h.run, p.session, h.view.heldAck, h.view.rackAck}
		h.now, h.asked = answer, token{}
	}
	h.greeted = p.session
	w.send(h.heads(answer))
	if proved != proofNone {
		if a.behind {
			return true, fmt.Sprintf("%s takes the agent's documents for ones that nobody made", runName(h.run))
		}
		pr := progress{stage: stages[h.stage], greeting: "same"}
		pr.judge("", a.inStep, true, "same", modelStart)
		h.stage = stageOf(pr.stage)
	}
	return true, ""
}

func (m *system) applied(w *world, hub int, p packet, known bool) (bool, string) {
	h := &w.hubs[hub]
	if !h.counts(p.nonce) {
		return false, ""
	}
	leaf := int(p.session) // it names none
	a := m.ask.applies(appliedQuestion{h.view.only(), leaf, p.a})
	if a.foreign {
		return true, fmt.Sprintf("the agent has another content of version %d than %s sent", p.a.version, runName(h.run))
	}
	wrong := ""
	if a.changed {
		if w.full() || !w.fresh(hub, m.with(keyLedger)) {
			return false, ""
		}
		after := a.ledger
		w.commit(hub, after, keyLedger, known)
		if wrong = w.effect(hub); !known {
			return true, wrong
		}
	}
	if p.says != 0 && h.view.order == done {
		h.freed = true
	}
	return true, wrong
}

func (m *system) report(w *world, hub int, p packet, known bool) (bool, string) {
	h := &w.hubs[hub]
	if !h.counts(p.nonce) || p.session != p.nonce.session {
		return false, ""
	}
	if p.says&2 != 0 {
		h.armed = true
	}
	if stages[h.stage] == stageAdopting {
		pr := progress{stage: stageAdopting, greeting: "same"}
		pr.reported("same", 0, 1, modelStart)
		h.stage = stageOf(pr.stage)
	}
	if p.says&1 == 0 || h.freed || h.view.order == active || h.view.order == done {
		return true, ""
	}
	// The agent has a hold that nobody knows here.
	if w.full() || !w.fresh(hub, m.with(0)) || w.store.order == active || w.store.order == done {
		return true, "" // its key is there
	}
	after := w.store
	after.order = active
	if w.store.order == gone && !m.flaws.unburied { // its last word is asked of the store itself
		after.order = done
	}
	wrong := ""
	if w.store.order == gone && after.order == active {
		wrong = "a hold that was released is accepted anew"
	}
	w.commit(hub, after, keyHold, known)
	if e := w.effect(hub); e != "" {
		wrong = e
	}
	return true, wrong
}

// agentSteps are those of the agent by itself.
func (m *system) agentSteps(w world, to func(explore.Step, world, string)) {
	if n := w; n.sayHello() {
		to(explore.Step{What: stepHello}, n, "")
	}
	if n := w; n.sayReport() {
		to(explore.Step{What: stepReport}, n, "")
	}
	if n := w; true {
		if ok, wrong := m.boot(&n); ok {
			to(explore.Step{What: stepBoot}, n, wrong)
		}
	}
	if w.left.restarts > 0 {
		n := w
		n.left.restarts--
		n.restart()
		if m.flaws.armsFirst {
			n.agent.used = false
		}
		to(explore.Step{What: stepRestart}, n, "")
	}
}

// restart is a start of the agent: what is in memory goes, and a session begins.
func (w *world) restart() {
	g := &w.agent
	g.session, g.answered, g.nonce, g.own = g.session+1, false, token{}, false
}

func (w *world) sayHello() bool {
	g := &w.agent
	return w.send(packet{kind: msgHello, session: g.session, nonce: g.nonce, fence: g.fence, run: g.run, a: g.hold, b: g.rack})
}

// sayReport sends a report, which counts only with the nonce of its session.
func (w *world) sayReport() bool {
	g := &w.agent
	if !g.own {
		return false
	}
	p := packet{kind: msgReport, session: g.session, nonce: g.nonce, fence: g.fence, run: g.run}
	if g.lies > 0 {
		p.says |= 1
	}
	if g.used {
		p.says |= 2
	}
	return w.send(p)
}

func (m *system) boot(w *world) (bool, string) {
	g := &w.agent
	q := bootQuestion{g.rack.says == saysHold, g.used, g.lies > 0, g.answered}
	if !q.grant || !m.ask.arms(q) {
		return false, ""
	}
	g.used = true
	g.armed++
	if g.armed > 1 {
		return true, "one grant is armed twice"
	}
	return true, ""
}

// receive has the agent take a message of a hub; false where it changes nothing.
func (m *system) receive(w *world, p packet) (bool, string) {
	g := &w.agent
	switch p.kind {
	case msgAgain, msgHeads:
		return m.synced(w, p), ""
	}
	leaf := int(p.kind - msgHold)
	have := &g.hold
	if leaf == 1 {
		have = &g.rack
	}
	q := arrivesQuestion{p.a, *have, g.fence, g.run}
	if m.flaws.anyFence {
		q.fence, q.run = p.a.fence, p.a.run
	}
	switch m.ask.arrival(q) {
	case decide.ArrivalAhead:
		return w.sayHello(), ""
	case decide.ArrivalFenced, decide.ArrivalOlder:
		return false, ""
	case decide.ArrivalOther:
		return true, fmt.Sprintf("version %d comes with two contents", p.a.version)
	case decide.ArrivalKnown:
		w.acknowledge(leaf)
		return true, ""
	case decide.ArrivalTaken:
	}
	wrong := ""
	if p.a.fence < g.fence {
		wrong = fmt.Sprintf("the agent takes a document of fence %d, and has followed %d", p.a.fence, g.fence)
	}
	if p.a.version <= have.version {
		wrong = "the agent goes back to an earlier version"
	}
	*have = p.a
	if leaf == 0 {
		if w := m.hold(w, p.a.says); w != "" {
			wrong = w
		}
	}
	w.acknowledge(leaf)
	return true, wrong
}

// hold does to the agent's hold what a document says.
func (m *system) hold(w *world, says uint8) string {
	g := &w.agent
	switch decide.HoldAfter(g.lies > 0, says == saysRelease, says == saysHold, true) {
	case decide.HoldNothing:
		g.lies = 0
	case decide.HoldLies:
		if g.lies == 0 && g.let {
			return "a hold that was released lies again"
		}
		g.lies = 1
	case decide.HoldMissing:
		g.lies = 2
		if m.flaws.absenceReleases {
			g.lies, g.let = 0, true
			return "a hold ends that a document left out"
		}
	case decide.HoldEnds:
		g.lies, g.let = 0, true
		if w.store.order != done && w.store.order != gone {
			return "a hold ends that nobody released"
		}
	}
	return ""
}

// acknowledge says that a document is on disk.
func (w *world) acknowledge(leaf int) {
	g := &w.agent
	if !g.own {
		return // it counts nowhere without a nonce; the next Hello says it
	}
	p := packet{kind: msgApplied, session: uint8(leaf), nonce: g.nonce, fence: g.fence, run: g.run, a: g.hold}
	if leaf == 1 {
		p.a = g.rack
	} else if g.hold.says == saysRelease && g.lies == 0 {
		p.says = 1
	}
	w.send(p)
}

func (m *system) synced(w *world, p packet) bool {
	g := &w.agent
	was := *g
	switch m.ask.syncs(*g, p) {
	case decide.SyncAgain:
		g.nonce, g.own = p.nonce, true
		w.sayHello()
	case decide.SyncLacking, decide.SyncAnswer:
		if fenceOf(p.fence, p.run).Newer(fenceOf(g.fence, g.run)) {
			g.fence, g.run = p.fence, p.run
		}
		g.nonce, g.own, g.answered = p.nonce, true, true
	case decide.SyncHeed, decide.SyncBehind:
		g.nonce, g.own = p.nonce, true
	case decide.SyncStop, decide.SyncIgnore, decide.SyncDoubt, decide.SyncRival, decide.SyncRenew:
		return false
	}
	return *g != was
}

// words says a step for people.
func words(s explore.Step, before world) string {
	hub := ""
	if int(s.Who) < nHubs {
		hub = fmt.Sprintf("hub %c (%s)", 'A'+s.Who, runName(before.hubs[s.Who].run))
	}
	var mail packet
	if n := int(s.Which &^ (kept | unheard)); n < maxNet {
		mail = before.net[n]
	}
	end := ""
	if s.Which&kept != 0 {
		end = "; it comes again"
	}
	if s.Which&unheard != 0 {
		end = ", and is not told that it was written"
	}
	leaf := leafName(int(s.Which &^ unheard))
	switch s.What {
	case stepWatch:
		return hub + " sees the next write"
	case stepRefresh:
		return hub + " reads the ledger alone"
	case stepNumber:
		return hub + " takes the next number of a fence" + end
	case stepTake:
		return fmt.Sprintf("%s takes the rack with fence %d%s", hub, before.hubs[s.Who].number, end)
	case stepEnter:
		return hub + " enters the " + leaf + " document" + end
	case stepSend:
		return hub + " sends the " + leaf + " document " + before.hubs[s.Who].view.sheet(int(s.Which)).String()
	case stepAsk:
		return hub + " asks for a Hello"
	case stepSync:
		return hub + " says what the agent should have"
	case stepGrant:
		return hub + " makes the grant" + end
	case stepBooted:
		return hub + " files that the grant was used" + end
	case stepRemove:
		return hub + " removes the hold" + end
	case stepHear:
		return hub + " hears " + mail.String() + end
	case stepCrash:
		return hub + " crashes and starts again"
	case stepOrder:
		return hub + " accepts " + [...]string{"a hold", "its release", "a claim"}[s.Which&^unheard] + end
	case stepReceive:
		return "the agent receives " + mail.String() + end
	case stepHello:
		return "the agent says Hello"
	case stepReport:
		return "the agent reports"
	case stepBoot:
		return "the agent uses the grant and arms the boot"
	case stepRestart:
		return "the agent crashes and starts again"
	case stepLose:
		return "lost: " + mail.String()
	}
	return fmt.Sprint(s)
}

func leafName(leaf int) string {
	if leaf == 1 {
		return message.LeafRack
	}
	return message.LeafHold
}

func (s sheet) String() string {
	if s.version == 0 {
		return "none"
	}
	return fmt.Sprintf("version %d of fence %d that says %s", s.version, s.fence, [...]string{"nothing", "yes", "released"}[s.says])
}

func (p packet) String() string {
	kind := [...]string{"nothing", "a Sync that asks for a Hello", "a Sync with heads", "the hold document", "the rack document", "a Hello", "an Applied", "a report"}[p.kind]
	var parts []string
	parts = append(parts, fmt.Sprintf("%s of fence %d", kind, p.fence))
	if p.a.version > 0 {
		parts = append(parts, p.a.String())
	}
	if p.b.version > 0 {
		parts = append(parts, p.b.String())
	}
	return strings.Join(parts, ", ")
}

// String says what there is in a state, for people.
func (w world) String() string {
	var b strings.Builder
	k := w.store
	fmt.Fprintf(&b, "the rack is of %s with fence %d; the hold is %s, the claim is %s; the hold document is %s, acknowledged is %d; the rack document is %s, acknowledged is %d\n",
		runName(k.owner), k.number, [...]string{"absent", "accepted", "released", "removed"}[k.order], [...]string{"absent", "accepted", "granted", "booted"}[k.claim], k.hold, k.heldAck, k.rack, k.rackAck)
	for i, h := range w.hubs {
		fmt.Fprintf(&b, "hub %c (%s) is %d writes behind, takes the rack for %s's with fence %d, has number %d; the agent is %s there\n",
			'A'+i, runName(h.run), w.logs-h.at, runName(h.view.owner), h.view.number, h.number, stages[h.stage])
	}
	g := w.agent
	fmt.Fprintf(&b, "the agent follows fence %d; its hold document is %s, its rack document is %s; the hold is %s; the grant was used: %t\n",
		g.fence, g.hold, g.rack, [...]string{"not there", "there", "there, and left out of a document"}[g.lies], g.used)
	for _, p := range w.net {
		if p.kind != msgNone {
			fmt.Fprintf(&b, "on its way: %s\n", p)
		}
	}
	return b.String()
}
