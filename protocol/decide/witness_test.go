package decide

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// witness watches a world and checks the promises after everything that happens.
type witness struct {
	t     judge
	world *world
	light bool // what costs more than the step is checked at no step, else at every other

	reads       []protocol.Observation // since the agent started
	off         offTruth
	netAttempts map[string]map[string]bool
	usedFor     map[string]*message.Grant // by attempt
	fetched     map[string]bool           // truth: the file's last byte left, by grant
	ended       map[string]resource.Outcome
	pending     bool            // On was sent, and firmware has not picked its device since
	waited      map[string]bool // orders that waited while files were fetched, and were done since
	fetchedAt   map[string]int  // orders when a file's last byte left, by grant
	orders      int             // what people have asked for
	token       string
	steps, ons  int
	stepped     bool // the clock was stepped since the last restart
	// blind is a power cycle between two reads: no BMC read shows it, and nothing
	// can be concluded (P5).
	unseenOff, blind bool
	renewed          bool
	outside          bool // somebody has changed the server's power
	provisions       int
	observed         int // of them by observed evidence
	receipts         int
	uriBoots         int
	writes           map[string]int               // of firmware settings, by owner
	settingsSent     func(ActionKind)             // at each reading or writing of settings
	before           map[string]map[string]string // how it was set before the first
}

func (x *witness) restarted() { x.reads, x.off = nil, offTruth{} }

func (x *witness) read(o protocol.Observation) {
	x.reads = append(x.reads, o)
	if o.Power == protocol.PowerOff {
		x.unseenOff = false
	}
	if len(x.reads) > 4000 {
		x.reads = slices.Clone(x.reads[2000:])
	}
}

func (x *witness) consumed(protocol.BootTarget) { x.pending = false }

// on is an On that reaches the BMC.
func (x *witness) on() {
	x.pending, x.blind = true, false
	if len(x.world.holds) > 0 {
		x.t.Fatalf("P2: On is sent while %d holds lie", len(x.world.holds))
	}
	x.ons++
}

func (x *witness) json(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		x.t.Fatal(err)
	}
	return string(raw)
}

// same says whether two things are stored alike; that they are alike is seen faster.
func (x *witness) same(a, b any) bool { return reflect.DeepEqual(a, b) || x.json(a) == x.json(b) }

// step decides once and checks what came of it.
func (x *witness) step(now time.Time, s Snapshot) Plan {
	x.steps++
	if x.light || x.steps%2 == 0 {
		p := Step(now, s)
		x.check(now, s, p)
		return p
	}
	before := x.json(s)
	p := Step(now, s)
	if x.steps%8 == 1 { // it costs more than the step
		if again := Step(now, s); !x.same(again, p) {
			x.t.Fatalf("not deterministic:\n%s\n%s", x.json(p), x.json(again))
		}
	}
	if after := x.json(s); after != before {
		x.t.Fatalf("the snapshot was changed:\n%s\n%s", before, after)
	}
	if p.RecheckAt.Before(now) || p.RecheckAt.After(now.Add(s.Settings.PollInterval)) {
		x.t.Fatalf("recheck at %v, now is %v", p.RecheckAt, now)
	}
	was, is := s.Record, p.Record
	was.Conditions, is.Conditions = nil, nil
	if !p.Persist && !x.same(was, is) {
		x.t.Fatalf("effects on record are not persisted with action %s:\n%s\n%s", p.Action.Kind, x.json(was), x.json(is))
	}
	x.check(now, s, p)
	return p
}

// check holds a plan against the promises.
func (x *witness) check(now time.Time, s Snapshot, p Plan) {
	for _, e := range p.Happened {
		if !x.outside && !x.world.m.restarts && (!x.stepped || !x.world.m.computed) && e.Code == resource.EventUnexpected && strings.Contains(e.Message, "was reset") {
			x.t.Fatalf("P5: what nobody did: %s", e.Message)
		}
	}
	s.Holds = slices.DeleteFunc(slices.Clone(s.Holds), func(h Hold) bool { // they end with the record
		return slices.ContainsFunc(p.Expire, func(e resource.Release) bool { return e.HoldID == h.ID })
	})
	x.orders += len(p.Expire) // whose owner said so; the same step may boot it
	x.attempt(s.Record.Attempt, p.Record.Attempt)
	x.retried(s, p)
	x.armedNothing(s, p)
	x.uses(s, p)
	x.action(now, s, p)
	x.fence(s, p)
	x.watched(s, p)
	x.words(s, p)
	x.ends(s, p)
}

// action checks P2, P4, P6 and P9.
func (x *witness) action(now time.Time, s Snapshot, p Plan) {
	a := p.Record.Attempt
	last := p.Watch.Last
	if k := p.Record.Identity; k != nil && k.Other != nil && (p.Action.Kind == ActArm || p.Action.Kind == ActOn || p.Action.Kind == ActRestart) {
		x.t.Fatalf("%s of another board that nobody accepted: %+v", p.Action.Kind, k)
	}
	if p.Action.Kind != ActNone && Working(s.Firmware, s.HubTime, now) && holdingOf(s.Holds) != holdsForced {
		x.t.Fatalf("%s during firmware work", p.Action.Kind)
	}
	x.media(s, p)
	x.url(s, p)
	switch p.Action.Kind {
	case ActReadPolicy, ActGuard, ActUnguard:
		x.guard(s, p)
	case ActArm:
		if o := p.Action.Override; o.Enabled != protocol.OverrideOnce {
			x.t.Fatalf("P6: %+v is armed (metal-operator 939)", o)
		}
		switch {
		case p.Record.Residue.Rearm() != nil && p.Action.Attempt == p.Record.Residue.Rearm().ID:
			x.rearmed(s, p)
		case a.Order.Target == protocol.TargetHdd && netOnly(s.Intent):
			x.t.Fatal("the disk was armed for what always boots from the network (metal-operator 938)")
		case len(s.Holds) > 0:
			x.t.Fatal("P2: armed under a hold")
		case !a.Open() || a.Stage.State != resource.AttemptPreparing || last.Power != protocol.PowerOff && !a.Order.Restart:
			x.t.Fatalf("P6: armed outside an attempt toward a power-on: %+v", a)
		case !a.Network() && p.Record.Unexpected != nil && p.Record.Unexpected.To == protocol.PowerOff:
			x.t.Fatal("P5: a server that went Off by itself was started without an operator")
		case a.Network():
			x.grant(s, p)
		}
	case ActDisarm:
		if p.Record.Residue.Rearm() != nil && p.Action.Attempt == p.Record.Residue.Rearm().ID {
			x.rearmed(s, p)
			break
		}
		taken := a.Stage.Arming.Outcome == protocol.BootCoercedContinuous && !slices.Contains([]resource.AttemptState{
			resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptPowerRequested, resource.AttemptFailed,
		}, a.Stage.State)
		if (a.Open() || last.Power != protocol.PowerOff) && !taken || !last.Override.Armed() && !a.hidden() {
			x.t.Fatalf("P6: disarmed during an attempt: %+v", a)
		}
	case ActOn:
		switch {
		case len(s.Holds) > 0:
			x.t.Fatal("P2: On under a hold")
		case last.Power != protocol.PowerOff || last.Override.Target != a.Order.Target || !last.Override.Armed():
			x.t.Fatalf("P9: On without a read of Off and armed: %+v", last)
		case a.Stage.State != resource.AttemptPowerRequested || !p.Persist:
			x.t.Fatal("P9: On without its intent on disk")
		case s.Record.Attempt != nil && s.Record.Attempt.ID == a.ID && !s.Record.Attempt.Stage.PowerOn.Again.IsZero() &&
			!now.Before(s.Record.Attempt.Stage.PowerOn.Again) && now.Sub(s.Record.Attempt.Stage.PowerOn.Again) < onResend:
			x.t.Fatal("P9: On repeated too soon")
		case s.Intent == nil || s.Intent.Releasing || s.Intent.Power != resource.WantOn:
			x.t.Fatal("P6: On without a claim that wants it")
		}
	case ActRestart:
		x.restarts(s, p)
	case ActGraceful, ActForceOff:
		if last.Power == protocol.PowerOff {
			x.t.Fatal("a stop was sent to a server that is Off")
		}
		x.unseen(s, p)
		x.leaveAlone(s, p)
	case ActReadFirmware, ActWriteFirmware:
		x.settings(s, p)
	case ActNone, ActInsert, ActEject, ActClearURL:
	}
	if len(s.Holds) > 0 && a.Open() && p.Watch.Last.Power != "" && !s.Passive {
		x.t.Fatal("P2: an attempt stays open under a hold")
	}
}

// unseen checks a stop of a server whose power state cannot be read: it is forced only where
// a hard hold lies that is not proved, and less and less often.
func (x *witness) unseen(s Snapshot, p Plan) {
	last := p.Watch.Last.Power
	if last != protocol.PowerUnknown && last != protocol.PowerUnreachable {
		return
	}
	hard := slices.ContainsFunc(s.Holds, func(h Hold) bool {
		_, violated := p.Record.Holds.Violated[h.ID]
		return h.Mode == resource.StopHard || violated
	})
	st := p.Record.Stop
	switch {
	case p.Action.Kind != ActForceOff:
		x.t.Fatalf("%s while the power state is %s", p.Action.Kind, last)
	case !hard && st.Mode != resource.StopHard || len(s.Holds) == 0 || len(p.Record.Holds.Receipts) == len(s.Holds):
		x.t.Fatalf("forced off unread, with holds %+v and %d receipts", s.Holds, len(p.Record.Holds.Receipts))
	case last == protocol.PowerUnreachable && p.Watch.Unread.Fault.Kind != protocol.FaultSlow:
		x.t.Fatal("forced off while the BMC does not answer")
	}
}

// netOnly says whether an owner never boots the disk.
func netOnly(in *message.ServerIntent) bool {
	return in.Owner.Kind == resource.PurposeMaintenance || in.Boot.BootPolicy.Boot == resource.BootNetwork
}

// guard checks that a policy is changed by nobody but holds, and after what was there
// is on disk. A server that keeps its own gets it back, and no receipt vouches for another.
func (x *witness) guard(s Snapshot, p Plan) {
	g, k := p.Record.Guard, p.Action.Kind
	keeps := s.Intent != nil && s.Intent.KeepPowerRestorePolicy
	switch {
	case (k == ActUnguard) == (len(s.Holds) > 0 && !keeps):
		x.t.Fatalf("%s with %d holds, keeps its own: %t", k, len(s.Holds), keeps)
	case k == ActReadPolicy && g != nil, k != ActReadPolicy && (g == nil || g.Before == "" || g.State == GuardSet):
		x.t.Fatalf("%s with %+v", k, g)
	case k != ActUnguard && p.Watch.Last.Power != protocol.PowerOff:
		x.t.Fatal("a guard was sent while the server had to be stopped")
	}
}

// policy is checked when it reaches the BMC.
func (x *witness) policy(a Action) {
	g := x.world.record().Guard
	if a.Kind != ActReadPolicy && (g == nil || g.Before != x.world.m.own || g.State == GuardSet) {
		x.t.Fatalf("%s to %s with %+v on disk; people had set %s", a.Kind, a.Policy, g, x.world.m.own)
	}
}

// words checks that an operator's word is taken for what it is.
func (x *witness) words(s Snapshot, p Plan) {
	o := s.Observation
	for _, h := range s.Holds {
		_, manual := p.Record.Holds.Manual[h.ID]
		_, proved := p.Record.Holds.Receipts[h.ID]
		state, _ := HoldStands(h, p.Record, p.Watch, s.Firmware, s.Settings.SettleWindow)
		switch _, had := s.Record.Holds.Manual[h.ID]; {
		case manual && proved:
			x.t.Fatal("a proof and an operator's word for the same hold")
		case manual && (h.ConfirmedDown == nil || p.Record.Holds.Manual[h.ID].Manual == nil || p.Record.Holds.Manual[h.ID].Reads != 0):
			x.t.Fatalf("nobody's word: %+v", p.Record.Holds.Manual[h.ID])
		case manual && !had && p.Watch.Last.Power != protocol.PowerUnreachable:
			x.t.Fatalf("a word was taken while the BMC showed %s", p.Watch.Last.Power)
		case manual && o != nil && (o.Power == protocol.PowerOn || o.Power == protocol.PowerPoweringOn):
			x.t.Fatal("an operator's word stands against a read")
		case state == resource.StateFenced && !proved, state == resource.StateConfirmed && !manual:
			x.t.Fatalf("%s: manual %t, proved %t", state, manual, proved)
		case state == resource.StateFenced && p.Watch.Last.Power != protocol.PowerOff:
			x.t.Fatalf("%s while %s", state, p.Watch.Last.Power)
		}
	}
	for id, r := range p.Record.Holds.Receipts {
		if r.Manual != nil || r.Reads < minReads {
			x.t.Fatalf("P3: receipt %s of %+v", id, r)
		}
		if r.RestorePolicy != "" && !x.renewed && x.world.m.policy != protocol.RestoreAlwaysOff {
			x.t.Fatalf("receipt %s vouches for %s, the BMC has %s", id, r.RestorePolicy, x.world.m.policy)
		}
	}
}

// grant checks P4 for a network arm.
func (x *witness) grant(s Snapshot, p Plan) {
	a, b := p.Record.Attempt, s.Intent.Boot
	g := x.usedFor[a.ID]
	if g == nil {
		x.t.Fatalf("P4: a network boot for which no grant was used: %+v", a)
	}
	key := grantKey(b)
	use := p.Record.Owners.Used[key]
	if s.HubTime.IsZero() {
		x.t.Fatal("P4: armed for the network before the hub was heard")
	}
	if was := s.Record.Attempt; was == nil || was.ID != a.ID {
		if b.GrantFor != s.Incarnation {
			x.t.Fatalf("P4: a new network boot with the hub's time %v, on %s with a grant for %s", s.HubTime, s.Incarnation, b.GrantFor)
		}
	}
	if x.netAttempts[key] == nil {
		x.netAttempts[key] = map[string]bool{}
	}
	fresh := !x.netAttempts[key][a.ID]
	x.netAttempts[key][a.ID] = true
	if g.Repeat {
		x.repeats(key, fresh, p.Record.Requests)
		if use.Ran && fresh || use.Attempts > g.MaxAttempts || use.Spent {
			x.t.Fatalf("P4: %+v of %d", use, g.MaxAttempts)
		}
		return
	}
	if n := len(x.netAttempts[key]); use.Spent || use.Attempts < n || n > g.MaxAttempts {
		x.t.Fatalf("P4: attempt %d of %d, recorded %+v", n, g.MaxAttempts, use)
	}
	if x.fetched[key] && g.Purpose != resource.PurposeDiscovery {
		x.t.Fatalf("P4: armed for the network after the boot file was fetched: %s", x.json(s.Record))
	}
	if !s.Artefacts.Local && s.Record.Attempt == nil {
		x.t.Fatal("P7: armed before the files were local")
	}
}

// uses checks P4 where a network boot begins, which uses its grant on disk. What travels
// later changes nothing in that.
func (x *witness) uses(s Snapshot, p Plan) {
	a, g := p.Record.Attempt, s.Grant
	if a == nil || !a.Network() || s.Record.Attempt != nil && s.Record.Attempt.ID == a.ID {
		return
	}
	b := s.Intent.Boot
	if g == nil || g.OwnerUID != b.Owner.UID || g.Generation != b.Generation || g.ServerUID != s.Intent.UID || g.ImageDigest != b.Image.Digest || a.Order.OwnerUID != b.Owner.UID || a.Order.Digest != g.ImageDigest {
		x.t.Fatalf("P4: a network boot without a grant that fits: %+v", g)
	}
	if !p.Persist {
		x.t.Fatal("P4: a grant is used, and not on disk")
	}
	used := *g
	x.usedFor[a.ID] = &used
}

// fence checks P3.
func (x *witness) fence(s Snapshot, p Plan) {
	for id, r := range p.Record.Holds.Receipts {
		i := slices.IndexFunc(s.Holds, func(h Hold) bool { return h.ID == id })
		if i < 0 {
			x.t.Fatal("P3: a receipt without its hold")
		}
		if s.Observation != nil && s.Observation.Power != protocol.PowerOff && s.Observation.Power != protocol.PowerUnknown && s.Observation.Power != protocol.PowerUnreachable {
			x.t.Fatalf("P3: a receipt while the server is %s", s.Observation.Power)
		}
		if _, old := s.Record.Holds.Receipts[id]; old {
			continue
		}
		x.receipts++
		run, first := 0, protocol.Observation{}
		for j := len(x.reads) - 1; j >= 0 && x.reads[j].Power == protocol.PowerOff; j-- {
			if x.reads[j].StartedAt.After(s.Holds[i].EnforcedAt) {
				run, first = run+1, x.reads[j]
			}
		}
		if run < 2 || r.Reads < 2 || r.Reads > run {
			x.t.Fatalf("P3: a receipt of %d reads; %d are good", r.Reads, run)
		}
		if span := r.ConfirmedAt.Sub(first.ReadAt); !x.stepped && span < s.Settings.SettleWindow {
			x.t.Fatalf("P3: a receipt over %v", span)
		}
		// What takes longer than the BMC ever took, and the margin, nobody can wait for.
		if m := x.world.m; m.power != protocol.PowerOff && !x.stepped || m.onDue > 0 && m.onTakes <= onBound(p.Record.Shown.OnTook) {
			x.t.Fatalf("P3: a receipt while the server is %s, On due at %v", m.power, m.onDue)
		}
	}
}

// ends checks that requests end once, and that facts are never unset.
func (x *witness) ends(s Snapshot, p Plan) {
	for _, r := range p.Record.Requests {
		known := slices.ContainsFunc(s.Record.Requests, func(o RequestState) bool { return o.ID == r.ID })
		if foreign := r.Incarnation != "" && r.Incarnation != s.Incarnation; !known && !r.Local && r.Outcome != resource.OutcomeUnknown &&
			(s.HubTime.IsZero() || foreign || r.Outcome == resource.OutcomePending && !s.HubTime.Before(r.NotAfter)) {
			x.t.Fatalf("P9: request %+v was accepted by %s at the hub's time %v", r, s.Incarnation, s.HubTime)
		}
		if was, ok := x.ended[r.ID]; ok && was != r.Outcome {
			x.t.Fatalf("P9: request %s was %s and became %s", r.ID, was, r.Outcome)
		}
		if r.Outcome != resource.OutcomePending {
			x.ended[r.ID] = r.Outcome
		}
		if r.Outcome == resource.OutcomeExpired && !r.StoppedAt.IsZero() {
			x.t.Fatal("P9: an expired request fired")
		}
	}
	if s.Record.Owners.Provisioned != nil && p.Record.Owners.Provisioned == nil {
		x.t.Fatal("provisioned was unset")
	}
	for _, was := range append(slices.Collect(maps.Values(s.Record.Owners.Earlier)), deref(s.Record.Owners.Provisioned)...) {
		if is := p.Record.ProvisionedFor(was.OwnerUID, was.Generation); is == nil || is.ImageDigest != was.ImageDigest {
			x.t.Fatalf("P4: the record of %+v is now %+v", was, is)
		}
	}
	if s.Record.Owners.Provisioned == nil && p.Record.Owners.Provisioned != nil {
		x.provisions++
	}
	if was, is := s.Record.Owners.Provisioned, p.Record.Owners.Provisioned; is != nil && (was == nil || was.At != is.At) {
		x.evidence(s, *is)
	}
	for key, use := range s.Record.Owners.Used {
		if is := p.Record.Owners.Used[key]; (is.Attempts < use.Attempts && !use.Repeat && !x.givenBack(s, p, key, use.Attempts-is.Attempts) || use.Spent && !is.Spent) && !x.renews(s, p) {
			x.t.Fatalf("P4: the use of %s shrank from %+v to %+v", key, use, is)
		}
	}
}

// givenBack says whether a grant has so many uses less because an attempt has ended that armed nothing,
// and was not powered on.
func (x *witness) givenBack(s Snapshot, p Plan, key string, uses int) bool {
	was, is := s.Record.Attempt, p.Record.Attempt
	return uses == 1 && was != nil && was.Network() && !was.forDiscovery() && was.Stage.State == resource.AttemptPreparing && was.Stage.PowerOn.Sent.IsZero() &&
		provisionKey(was.Order.OwnerUID, was.Order.Generation) == key && (is == nil || is.ID != was.ID || is.Stage.State == resource.AttemptFailed)
}

// armedNothing takes an attempt that ended so out of the count.
func (x *witness) armedNothing(s Snapshot, p Plan) {
	if was := s.Record.Attempt; was != nil {
		if key := provisionKey(was.Order.OwnerUID, was.Order.Generation); x.givenBack(s, p, key, 1) {
			delete(x.netAttempts[key], was.ID)
		}
	}
}

func deref(p *resource.Provisioned) []resource.Provisioned {
	if p == nil {
		return nil
	}
	return []resource.Provisioned{*p}
}

// setBoot is checked when it reaches the BMC.
func (x *witness) setBoot(a Action) {
	rec := x.world.record()
	if x.pending && x.world.m.power != protocol.PowerOff && rec.Attempt.Open() && (rec.Attempt.Network() || rec.Attempt.Stage.Arming.Outcome != protocol.BootCoercedContinuous) {
		x.t.Fatalf("P6: %s between On and what consumes it", a.Kind)
	}
	if re := rec.Residue.Rearm(); re != nil && re.ID == a.Attempt {
		return // see rearmed
	}
	if a.Kind == ActArm && (rec.Attempt == nil || rec.Attempt.ID != a.Attempt) {
		x.t.Fatal("P9: armed without its attempt on disk")
	}
}

// served checks P2 and P4 for an answer.
func (x *witness) served(a protocol.BootAnswer) {
	if a.Action != protocol.AnswerBoot {
		return
	}
	rec := x.world.record()
	if len(x.world.holds) > 0 {
		x.t.Fatal("P2: a held server was booted")
	}
	if a := rec.Attempt; a.Stage.Arming.Outcome == protocol.BootCoercedContinuous && a.Stage.State == resource.AttemptFetched {
		x.t.Fatal("P4: booted again from the network, because the BMC keeps the override")
	}
	use := rec.Owners.Used[rec.Attempt.Order.OwnerUID+"/1"]
	if !rec.Attempt.Open() || !rec.Attempt.Network() || use.Attempts < 1 && !use.Ran {
		x.t.Fatalf("P4: booted outside a granted attempt: %+v", rec.Attempt)
	}
}

func (x *witness) fetchedFile(rec Record) {
	if a := rec.Attempt; a != nil && a.Token == x.token {
		x.fetched[a.Order.OwnerUID+"/1"], x.fetchedAt[a.Order.OwnerUID+"/1"] = true, x.orders
	}
}
