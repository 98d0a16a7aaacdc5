package control

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

const (
	fleetBoot = 2 * time.Minute
	fleetStep = 30 * time.Second
)

// fleet is a hub, and racks of servers with agents that are only as clever as the hub can
// see: they follow what is stored for them, unless they are dark, and report.
type fleet struct {
	*bench
	rnd    *rand.Rand
	agents []string
	boxes  []*box
	dark   map[string]bool // agents
	bad    map[string]bool // digests of images that do not start
	known  map[string]bool // requests that were seen
	orders map[string]int  // reboots by server and the time of the order
	most   int             // that may be unavailable; 0 is not checked
	// unfetched is why no agent has files; empty is that all have.
	unfetched string
	kills     float64
	swept     time.Time // when all units were woken last, of this start of the hub
	seen      *Control
	killed    int
}

// box is a server.
type box struct {
	name, agent, claim string
	on                 bool
	busy               time.Time // until a boot ends; zero is none
	going              *resource.BootConfiguration
	boots              string
	proof              *resource.Provisioned
	failed             string // attempt
	attempts           int
	tried              uint64 // the generation that failed
	outcomes           map[string]resource.RequestReport
	cfg                *resource.BootConfiguration // as the agent knows it
}

func newFleet(t *testing.T, seed uint64, racks, each int, change func(*resource.ServerGroup)) *fleet {
	t.Helper()
	reg := &digestRegistry{bare: map[string]bool{}, gone: map[string]bool{}}
	f := &fleet{
		bench: newBench(t, reg), rnd: rand.New(rand.NewPCG(seed, 7)), dark: map[string]bool{}, bad: map[string]bool{},
		known: map[string]bool{}, orders: map[string]int{},
	}
	f.feature, f.version, f.kek, f.unread = true, "1.0", strings.Repeat("5e", 32), true
	f.restart()
	group := workers(func(g *resource.ServerGroup) {
		g.Spec.BootPolicy.Boot = resource.BootNetwork
		g.Spec.Rollout = resource.RolloutSpec{
			Strategy: resource.RolloutReboot, Waves: []resource.Share{"25%"}, MaxUnavailable: "25%", OnFailure: resource.OnFailureRollback,
			Deadline: protocol.Duration(20 * time.Minute), Soak: protocol.Duration(2 * time.Minute),
		}
		if change != nil {
			change(g)
		}
		g.Default()
	})
	objs := []resource.Object{optIn(resource.OptInAll), entryOf("1.0"), group}
	for r := range racks {
		rack := fmt.Sprintf("q%02d", r)
		objs = append(objs, storetest.Rack(rack), storetest.Segment(fmt.Sprintf("net%02d", r), rack))
	}
	f.apply(objs...)
	for r := range racks {
		agent := f.join(fmt.Sprintf("q%02d", r))
		f.agents = append(f.agents, agent)
		for s := range each {
			f.add(r, s)
		}
	}
	f.greetAll()
	return f
}

// add is a server with a claim of the group.
func (f *fleet) add(rack, n int) {
	f.t.Helper()
	name := fmt.Sprintf("q%02d-s%02d", rack, n)
	srv := storetest.Server(name, "b-"+name, fmt.Sprintf("net%02d", rack), fmt.Sprintf("52:54:00:01:%02x:%02x", rack, n))
	srv.Metadata.Labels = map[string]string{"row": "7"}
	claim := fromWorkers("c-"+name, name)
	g, err := store.Peek[*resource.ServerGroup](f.store.Objects, "workers")
	if err != nil {
		f.t.Fatal(err)
	}
	claim.Spec.BootPolicy = g.Spec.BootPolicy
	f.apply(storetest.BMC("b-"+name, fmt.Sprintf("q%02d", rack)), srv, claim)
	f.boxes = append(f.boxes, &box{name: name, agent: f.agents[rack], claim: claim.Metadata.Name, outcomes: map[string]resource.RequestReport{}})
}

func (f *fleet) greetAll() {
	for _, a := range f.agents {
		if !f.dark[a] {
			f.greets(a)
		}
	}
}

// greets has an agent say a Hello that is in step with the ledger.
func (f *fleet) greets(agent string) {
	f.t.Helper()
	f.bench.greets(agent)
	f.sent = nil
}

// step lets half a minute pass at the servers, which report, and has the hub look twice,
// unless it dies.
func (f *fleet) step() {
	f.t.Helper()
	f.now = f.now.Add(fleetStep)
	byAgent, requests := map[string][]resource.ServerReport{}, map[string][]store.StoredRequest{}
	for _, q := range f.store.Requests.List() {
		requests[q.Server] = append(requests[q.Server], q)
	}
	for _, b := range f.boxes {
		if !f.dark[b.agent] {
			f.hears(b, requests[b.name])
		}
		f.runs(b)
		byAgent[b.agent] = append(byAgent[b.agent], f.describes(b))
	}
	for _, a := range f.agents {
		if !f.dark[a] {
			f.reports(a, byAgent[a]...)
		}
	}
	for range 2 {
		if f.kills > 0 && f.rnd.Float64() < f.kills {
			f.killOnce()
		}
		f.mayDie(f.turns)
		f.control.boots.images.Work(f.t.Context())
		f.sent = nil
		f.check()
	}
}

// killOnce chooses the point of a roll-out or a claim at which the hub dies next. A pass may
// not come to it: then it stands for the passes that follow, until another is chosen.
func (f *fleet) killOnce() {
	points := []string{
		"hub.rollout.begun", "hub.rollout.stepped", "hub.rollout.asked", "hub.rollout.ordered", "hub.rollout.noted", "hub.rollout.returned",
		"hub.rollout.granted", "hub.rollout.superseded", "hub.group.revised", "hub.group.current", "hub.group.stamped", "hub.group.verified", "hub.claim.configured", "hub.given",
	}
	f.crash = points[f.rnd.IntN(len(points))]
}

// mayDie runs a pass, and starts the hub again if it dies of killOnce. A test that chose the
// point itself sees it.
func (f *fleet) mayDie(pass func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(crashed); !ours || f.kills == 0 {
				panic(r)
			}
			f.killed++
			f.restart()
			f.greetAll()
		}
	}()
	pass()
}

// turns takes the turns of those that were woken, in any order; all are, now and then.
func (f *fleet) turns() {
	f.t.Helper()
	f.control.tick()
	if f.now.Sub(f.swept) >= 60*wake.SweepEvery || f.seen != f.control {
		f.swept, f.seen = f.now, f.control
		f.control.wake.Sweeping.Store(true)
		f.control.wake.All()
	}
	if err := f.control.settle(f.t.Context(), f.deltas, f.rnd); err != nil && protocol.CodeOf(err) != protocol.CodeConflict {
		f.t.Fatalf("turns: %v", err)
	}
}

// hears has an agent take what the hub has for a server: its configuration, once its grant is
// given, and its requests.
func (f *fleet) hears(b *box, requests []store.StoredRequest) {
	if cfg := f.configFor(b.claim); cfg != nil && cfg.Status.GrantFor != "" {
		b.cfg = cfg
	}
	for _, q := range requests {
		if _, had := b.outcomes[q.ID]; had || q.Incarnation == "" || q.Report.Outcome != resource.OutcomePending {
			continue
		}
		if !f.now.Before(q.NotAfter) {
			b.outcomes[q.ID] = resource.RequestReport{ID: q.ID, Outcome: resource.OutcomeExpired, At: f.now}
			continue
		}
		if !b.busy.IsZero() {
			f.t.Fatalf("%s is rebooted while it boots", b.name)
		}
		b.outcomes[q.ID] = resource.RequestReport{ID: q.ID, Outcome: resource.OutcomeDone, At: f.now}
		b.on, b.tried, b.failed = false, 0, ""
	}
}

// configFor is what is stored for a claim, which is not to be changed; nil without.
func (f *fleet) configFor(claim string) *resource.BootConfiguration {
	cfg, err := store.Peek[*resource.BootConfiguration](f.store.Objects, claim)
	if err != nil {
		return nil
	}
	return cfg
}

// installed says whether a server boots its disk.
func (b *box) installed() bool {
	return b.proof != nil && b.cfg.Spec.BootPolicy.Boot != resource.BootNetwork && b.proof.Generation == b.cfg.Metadata.Generation
}

// runs is what a server does by itself.
func (f *fleet) runs(b *box) {
	f.t.Helper()
	switch {
	case !b.busy.IsZero() && !f.now.Before(b.busy):
		b.busy = time.Time{}
		if f.bad[b.going.Spec.Image.Digest] {
			b.on, b.failed, b.tried = false, fmt.Sprintf("%s-%d", b.name, b.attempts), b.going.Metadata.Generation
			return
		}
		srv, err := store.Peek[*resource.Server](f.store.Objects, b.name)
		if err != nil {
			f.t.Fatal(err)
		}
		b.on, b.boots, b.failed = true, b.going.Spec.Image.Digest, ""
		b.proof = &resource.Provisioned{
			OwnerUID: b.going.Spec.Owner.UID, Generation: b.going.Metadata.Generation, Server: b.name, ServerUID: srv.Metadata.UID,
			ImageDigest: b.boots, Evidence: protocol.EvidenceBooted, At: f.now, Attempt: fmt.Sprintf("%s-%d", b.name, b.attempts),
		}
	case b.busy.IsZero() && !b.on && b.cfg != nil && b.installed():
		b.on = true // from its disk
	case b.busy.IsZero() && !b.on && b.cfg != nil && b.tried != b.cfg.Metadata.Generation:
		f.begins(b)
	}
}

// begins is a boot from the network, with what must be so.
func (f *fleet) begins(b *box) {
	f.t.Helper()
	var g message.Grant
	if err := wire.Open(wire.NewVerifier(f.hub.Public()), wire.FactGrant, b.cfg.Spec.Grant, &g); err != nil {
		f.t.Fatal(err)
	}
	network := b.cfg.Spec.BootPolicy.Boot == resource.BootNetwork
	if g.Generation != b.cfg.Metadata.Generation || g.ImageDigest != b.cfg.Spec.Image.Digest || g.OwnerUID != b.cfg.Spec.Owner.UID {
		f.t.Errorf("%s boots by the grant of another boot: %+v", b.name, g)
	}
	if b.proof != nil && !network && !g.Over {
		f.t.Errorf("%s is installed over without a word of it", b.name)
	}
	if g.Over && !slices.ContainsFunc(f.store.Approvals.List(), func(r store.StoredApproval) bool {
		return r.SignedAt != nil && r.Class == resource.ApproveReprovision && slices.Contains(r.Targets, b.name)
	}) {
		f.t.Errorf("%s is installed over without an approval", b.name)
	}
	b.attempts++
	b.busy, b.going, b.on = f.now.Add(fleetBoot), b.cfg, false
}

func (f *fleet) describes(b *box) resource.ServerReport {
	r := off(b.name)
	r.Power = protocol.PowerOff
	if b.on {
		r = on(b.name)
	}
	if b.cfg != nil {
		r.OwnerUID, r.BootGeneration, r.ArtefactsLocal = b.cfg.Spec.Owner.UID, b.cfg.Metadata.Generation, f.unfetched == ""
		if f.unfetched != "" {
			r.Conditions = append(r.Conditions, resource.ConditionState{Code: resource.CondArtefactsFailed, Message: f.unfetched})
		}
	}
	id := fmt.Sprintf("%s-%d", b.name, b.attempts)
	switch {
	case !b.busy.IsZero():
		r.Attempt = &resource.AttemptReport{ID: id, State: resource.AttemptConsumed, Intended: protocol.TargetUefiHTTP}
	case b.failed != "":
		r.Attempt = &resource.AttemptReport{ID: id, State: resource.AttemptFailed, Intended: protocol.TargetUefiHTTP, Code: resource.AttemptImageFailed}
		r.Conditions = []resource.ConditionState{{Code: resource.CondFirstBootFailed, Message: "it did not start"}, {Code: resource.CondGrantSpent}}
	case b.proof != nil:
		r.Attempt = &resource.AttemptReport{ID: id, State: resource.AttemptSucceeded, Intended: protocol.TargetUefiHTTP}
	}
	if b.proof != nil {
		r.Provisioned = seal(f.t, key(b.agent), wire.FactProvisioned, *b.proof)
	}
	for _, q := range b.outcomes {
		r.Requests = append(r.Requests, q)
	}
	return r
}

// check is what is never so.
func (f *fleet) check() {
	f.t.Helper()
	g := f.group()
	asked := map[string]bool{}
	for _, q := range f.store.Requests.List() {
		if q.Report.Outcome == resource.OutcomePending {
			if asked[q.Server] {
				f.t.Errorf("%v: two reboots of %s are under way", f.now, q.Server)
			}
			asked[q.Server] = true
		}
	}
	down := 0
	for _, b := range f.boxes {
		if !b.on || f.dark[b.agent] || asked[b.name] {
			down++
		}
	}
	for _, q := range f.store.Requests.List() {
		if f.known[q.ID] {
			continue
		}
		f.known[q.ID] = true
		cfg := f.configFor("c-" + q.Server)
		at := ""
		if m := g.Status.Rollout.Members[q.Server]; m.BegunAt != nil {
			at = q.Server + " " + m.BegunAt.String()
		}
		if f.orders[at]++; at == "" || f.orders[at] > 1 {
			f.t.Errorf("%v: %s is rebooted by no order, or twice by one: %q", f.now, q.Server, at)
		}
		if f.most > 0 && down > f.most {
			f.t.Errorf("%v: %d servers are down when %s is rebooted, and at most %d may be", f.now, down, q.Server, f.most)
		}
		if cfg == nil {
			f.t.Errorf("%s is rebooted into nothing", q.Server)
		}
	}
	stamped := map[string]bool{}
	for _, e := range store.List[*resource.BootImage](f.store.Objects) {
		stamped[e.Metadata.Name] = e.Status.Stamp != nil
	}
	for _, b := range f.boxes {
		cfg := f.configFor(b.claim)
		if cfg == nil {
			continue
		}
		r, err := store.Peek[*resource.GroupRevision](f.store.Objects, resource.GroupRevisionName("workers", cfg.Spec.Revision))
		ro := g.Status.Rollout
		if err != nil || stamped[r.Spec.BootImage] || r.Status.Verified || ro == nil || ro.Revision != cfg.Spec.Revision || ro.Phase == resource.RolloutRolledBack {
			continue
		}
		if m, ok := ro.Members[b.name]; !ok || m.Wave > 0 {
			f.t.Errorf("%v: %s is given %s, which nobody has proved, and is no canary: %+v", f.now, b.name, r.Metadata.Name, m)
		}
	}
}

// until steps until something is so.
func (f *fleet) until(what string, is func() bool) {
	f.t.Helper()
	for range 400 {
		if is() {
			return
		}
		f.step()
		if f.t.Failed() {
			f.t.FailNow()
		}
	}
	g := f.group()
	var boots []string
	for _, b := range f.boxes {
		boots = append(boots, fmt.Sprintf("%s on %v %.20s %+v, %s, %+v", b.name, b.on, b.boots, g.Status.Rollout.Members[b.name], codes(f.claim(b.claim).Status.Conditions), f.configOf(b.claim)))
	}
	f.t.Fatalf("never: %s\n%s %+v\n%s", what, f.history(), g.Status.Conditions, strings.Join(boots, "\n"))
}

// all says whether all servers run a version's image.
func (f *fleet) all(version string) func() bool {
	_, digest := resource.SplitImage(imageOf(version))
	return func() bool {
		return !slices.ContainsFunc(f.boxes, func(b *box) bool { return !b.on || b.boots != digest })
	}
}

func (f *fleet) phase(p resource.RolloutPhase) func() bool {
	return func() bool {
		g, err := store.Peek[*resource.ServerGroup](f.store.Objects, "workers")
		return err == nil && g.Status.Rollout != nil && g.Status.Rollout.Phase == p
	}
}
