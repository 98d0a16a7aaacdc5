//go:build !race

package link

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"rackboot/hub/plan/hubs"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// answers are those of the decisions of hub and agent. Each is asked once for each question, in the words of
// production, and its answer is remembered: a model that goes through millions of states asks the same again and again.
type answers struct {
	decide  map[decideQuestion]hubs.Verdict
	sync    map[syncQuestion]decide.SyncAction
	hello   map[helloQuestion]helloAnswer
	applied map[appliedQuestion]appliedAnswer
	seals   map[sealsQuestion]bool
	owed    map[owedQuestion]owedAnswer
	arrives map[arrivesQuestion]decide.Arrival
	boots   map[bootQuestion]bool
}

func newAnswers() *answers {
	return &answers{
		map[decideQuestion]hubs.Verdict{},
		map[syncQuestion]decide.SyncAction{},
		map[helloQuestion]helloAnswer{},
		map[appliedQuestion]appliedAnswer{},
		map[sealsQuestion]bool{},
		map[owedQuestion]owedAnswer{},
		map[arrivesQuestion]decide.Arrival{},
		map[bootQuestion]bool{},
	}
}

// reached fails where the model does not come to an answer that it is about.
func (a *answers) reached(t *testing.T) {
	t.Helper()
	come := map[string]bool{}
	for _, v := range a.decide {
		come["hub "+string(v)] = true
	}
	for _, v := range a.sync {
		come["Sync "+string(v)] = true
	}
	for _, v := range a.arrives {
		come["document "+string(v)] = true
	}
	for _, v := range a.hello {
		come["Hello "+string(v.verdict)] = true
	}
	for _, v := range a.boots {
		come[fmt.Sprint("arms ", v)] = true
	}
	t.Log(slices.Sorted(maps.Keys(come)))
	for _, want := range []string{
		"hub works", "hub takes", "hub waits", "Hello ask", "Hello answer", "arms true", "arms false",
		"Sync again", "Sync lacking", "Sync answer", "Sync rival", "Sync ignore",
		"document taken", "document known", "document older", "document fenced", "document ahead",
	} {
		if !come[want] {
			t.Errorf("the model never comes to: %s", want)
		}
	}
}

func memo[Q comparable, A any](have map[Q]A, q Q, ask func() A) A {
	a, known := have[q]
	if !known {
		a = ask()
		have[q] = a
	}
	return a
}

// modelEpoch is that of all documents: nothing is restored here.
const modelEpoch = 1

const modelDisk = "disk-1"

// leaves are the documents of the model.
var leaves = [...]string{message.LeafHold, message.LeafRack + "/0"}

func runName(run uint8) string {
	if run == 0 {
		return ""
	}
	return fmt.Sprintf("run-%d", run)
}

func fenceOf(number, run uint8) message.Fence {
	return message.Fence{Number: uint64(number), Hub: runName(run)}
}

func (s sheet) head() protocol.Head {
	return protocol.Head{Epoch: modelEpoch, Version: uint64(s.version)}
}

func (s sheet) digest() string { return fmt.Sprint("sealed ", s) }

func contentOf(leaf int, says uint8) string { return fmt.Sprint(leaves[leaf], " says ", says) }

// sheet is the ledger's of a leaf.
func (k *keys) sheet(leaf int) *sheet {
	if leaf == 0 {
		return &k.hold
	}
	return &k.rack
}

// acked is the version of a leaf that was acknowledged.
func (k *keys) acked(leaf int) *uint8 {
	if leaf == 0 {
		return &k.heldAck
	}
	return &k.rackAck
}

// ledger is that of the agent in production's form.
func (k keys) ledger() *store.Ledger {
	l := &store.Ledger{
		Agent: "r1-1", Sent: map[string]store.SentDoc{}, Acked: map[string]protocol.Head{}, Version: uint64(k.version),
		Peer: store.Peer{Incarnation: modelDisk},
	}
	for i, leaf := range leaves {
		if s := *k.sheet(i); s.version > 0 {
			l.Sent[leaf] = store.SentDoc{Head: s.head(), Digest: contentOf(i, s.says), Fence: uint64(s.fence), Sealed: s.digest()}
		}
		if v := *k.acked(i); v > 0 {
			l.Acked[leaf] = sheet{version: v}.head()
		}
	}
	return l
}

// only are the keys of the ledger.
func (k keys) only() keys {
	k.counter, k.owner, k.number, k.order, k.claim = 0, 0, 0, 0, 0
	return k
}

// learnt is the ledger after production has changed its acknowledgements.
func (k keys) learnt(l *store.Ledger) keys {
	for i, leaf := range leaves {
		*k.acked(i) = uint8(l.Acked[leaf].Version)
	}
	return k
}

type decideQuestion struct {
	owner, run uint8
	other      bool // it holds the other hub for alive
}

// works asks what a hub does about the rack. One that others may hold for dead begins nothing, which is as if it was stopped.
func (a *answers) works(q decideQuestion) hubs.Verdict {
	return memo(a.decide, q, func() hubs.Verdict {
		name := [nHubs]string{"hub-b", "hub-a"} // runs have turns
		v := hubs.View{Self: hubs.Member{Name: name[q.run%nHubs], Run: runName(q.run), Settled: true}, Beats: true}
		if q.other {
			v.Others = []hubs.Member{{Name: name[(q.run+1)%nHubs], Run: "run-of-the-other", Settled: true}}
		}
		return hubs.Decide("rack/r1", runName(q.owner), v)
	})
}

type syncQuestion struct {
	mine              bool
	fence, run        uint8
	hold, rack        sheet
	saysFence, sysRun uint8
	again             bool
	saysHold, sysRack sheet
}

func documents(held, rack sheet) (heads map[string]protocol.Head, digests map[string]string) {
	heads, digests = map[string]protocol.Head{}, map[string]string{}
	for i, s := range [...]sheet{held, rack} {
		if s.version > 0 {
			heads[leaves[i]], digests[leaves[i]] = s.head(), s.digest()
		}
	}
	return heads, digests
}

func (a *answers) syncs(g agentState, p packet) decide.SyncAction {
	q := syncQuestion{g.session == p.session, g.fence, g.run, g.hold, g.rack, p.fence, p.run, p.kind == msgAgain, p.a, p.b}
	return memo(a.sync, q, func() decide.SyncAction {
		s := decide.SyncSnapshot{Session: "mine", Incarnation: modelDisk, Fence: fenceOf(q.fence, q.run)}
		s.Applied, s.Digests = documents(q.hold, q.rack)
		m := message.Sync{Session: "other", Epoch: modelEpoch, Fence: fenceOf(q.saysFence, q.sysRun), Again: q.again}
		if q.mine {
			m.Session = "mine"
		}
		if !q.again {
			m.Heads, m.Digests = documents(q.saysHold, q.sysRack)
		}
		return decide.Sync(s, m)
	})
}

type helloQuestion struct {
	ledger     keys
	hold, rack sheet // that the agent has
	greeted    bool
	proof      proof
	with       token
}

type helloAnswer struct {
	verdict verdict
	changed bool
	ledger  keys
	behind  bool
	inStep  bool
}

func acknowledged(with token) map[string]protocol.Head {
	out := map[string]protocol.Head{}
	for i, v := range [...]uint8{with.held, with.rack} {
		if v > 0 {
			out[leaves[i]] = sheet{version: v}.head()
		}
	}
	return out
}

func (a *answers) hellos(q helloQuestion) helloAnswer {
	return memo(a.hello, q, func() helloAnswer {
		l := q.ledger.ledger()
		m := message.Hello{Incarnation: modelDisk}
		m.Applied, m.Digests = documents(q.hold, q.rack)
		_, _, v := judge(l, m, message.StoreHead{}, q.greeted, guardRule(false, false, false), q.proof, slot{acked: acknowledged(q.with)})
		out := helloAnswer{verdict: v}
		out.changed = (v == verdictAnswer || v == verdictMeet) && q.proof != proofNone && proves(l, m, v)
		out.ledger = q.ledger.learnt(l)
		behind, inStep := standing(l, modelEpoch, m.Applied, m.Digests)
		out.behind, out.inStep = behind != "", inStep
		return out
	})
}

type appliedQuestion struct {
	ledger keys
	leaf   int
	has    sheet
}

type appliedAnswer struct {
	changed, foreign bool
	ledger           keys
}

func (a *answers) applies(q appliedQuestion) appliedAnswer {
	return memo(a.applied, q, func() (out appliedAnswer) {
		l := q.ledger.ledger()
		out.changed, out.foreign = acknowledge(l, message.Applied{Doc: leaves[q.leaf], Head: q.has.head(), Digest: q.has.digest()})
		out.ledger = q.ledger.learnt(l)
		return out
	})
}

type sealsQuestion struct {
	ledger      keys
	leaf        int
	says, fence uint8
}

func (a *answers) sealing(q sealsQuestion) bool {
	return memo(a.seals, q, func() bool {
		return seals(q.ledger.ledger(), leaves[q.leaf], contentOf(q.leaf, q.says), modelEpoch, uint64(q.fence))
	})
}

type owedQuestion struct {
	ledger keys
	fence  uint8
}

type owedAnswer struct{ hold, rack bool }

func (a *answers) owes(q owedQuestion) owedAnswer {
	return memo(a.owed, q, func() owedAnswer {
		open, _ := owed(q.ledger.ledger(), uint64(q.fence), false)
		return owedAnswer{slices.Contains(open, leaves[0]), slices.Contains(open, leaves[1])}
	})
}

type arrivesQuestion struct {
	doc, have  sheet
	fence, run uint8
}

func (a *answers) arrival(q arrivesQuestion) decide.Arrival {
	return memo(a.arrives, q, func() decide.Arrival {
		mark := func(s sheet) decide.Mark { return decide.Mark{Head: s.head(), Digest: s.digest()} }
		return decide.Arrives(fenceOf(q.doc.fence, q.doc.run), fenceOf(q.fence, q.run), mark(q.doc), mark(q.have), q.have.version > 0)
	})
}

type bootQuestion struct{ grant, used, lies, heard bool }

// arms asks whether the agent arms a network boot now, and has noted on disk before that the grant is used.
func (a *answers) arms(q bootQuestion) bool {
	return memo(a.boots, q, func() bool {
		s := bootSnapshot(q)
		p := decide.Step(modelStart, s)
		if p.Action.Kind != decide.ActArm {
			return false
		}
		if !p.Persist || p.Record.Owners.Used["claim-1/1"].Attempts != 1 {
			panic("a boot is armed whose grant is not used on disk before")
		}
		return true
	})
}

var modelStart = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// bootSnapshot is a server that is Off, with a claim that wants it On.
func bootSnapshot(q bootQuestion) decide.Snapshot {
	image := resource.Image{Digest: "sha256:image", Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: "sha256:uki"}}}
	policy := resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd}
	s := decide.Snapshot{
		Server: "server-1", Synced: true, Incarnation: modelDisk, Artefacts: decide.Artefacts{Local: true}, CanGuard: true,
		Record: decide.Record{Server: "server-1"}, NewID: "id", NewToken: "token",
		Settings:    decide.Settings{SoftTimeout: 20 * time.Second, SettleWindow: 5 * time.Second, PollInterval: 15 * time.Second},
		Observation: &protocol.Observation{Server: "server-1", Power: protocol.PowerOff, StartedAt: modelStart, ReadAt: modelStart},
		Chain:       &protocol.BootChain{Kind: protocol.ChainUKI, First: "boot.efi", Last: "boot.efi", Files: []protocol.ChainFile{{Name: "boot.efi", Digest: "sha256:uki"}}},
		Intent: &message.ServerIntent{
			Server: "server-1", UID: "uid-1", Owner: resource.Owner{Name: "c", UID: "claim-1"}, Power: resource.WantOn,
			Boot: &message.BootIntent{
				Owner:       resource.Owner{UID: "claim-1"},
				GrantedBoot: resource.GrantedBoot{Generation: 1, GrantFor: modelDisk, BootSpec: resource.BootSpec{BootPolicy: policy, Image: image}},
			},
		},
	}
	if q.grant {
		s.Grant = &message.Grant{
			OwnerUID: "claim-1", Generation: 1, Server: "server-1", ServerUID: "uid-1", ImageDigest: "sha256:image", FirstBoot: resource.FirstBootUefiHTTP, MaxAttempts: 1, IssuedAt: modelStart,
		}
	}
	if q.heard {
		s.HubTime = modelStart
	}
	if q.used {
		s.Record.Owners.Used = map[string]decide.GrantUse{"claim-1/1": {Attempts: 1, Spent: true}}
	}
	if q.lies {
		s.Holds = []decide.Hold{{EnforcedAt: modelStart, ActiveHold: resource.ActiveHold{ID: "h", HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Key: "h", Mode: resource.StopHard}}}}}
	}
	return s
}
