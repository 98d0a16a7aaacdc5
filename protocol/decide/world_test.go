package decide

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// world is one server, its BMC, a hub's documents and the shell of an agent, all
// in simulated time. It drives Step as the agent does and hands everything that
// happens to a witness.
type world struct {
	t judge
	m *machine
	w *witness

	now    time.Duration // true time
	offset time.Duration // of the agent's clock
	wake   time.Duration // when the agent's loop looks next

	intent   *message.ServerIntent
	grant    *message.Grant
	holds    []Hold
	requests []resource.Request
	asked    []resource.Request // at the agent
	local    bool
	claims   int
	aside    *aside // the claim, while a maintenance has the server
	forged   forged // what is wrong with the grant that travels
	private  Private
	loaders  bool     // its image is no unified kernel image
	proof    tpmProof // of its TPM, that its report comes with
	firmware *resource.FirmwareWork
	frozen   *resource.Frozen
	queue    Place         // in the line of those that are switched on
	taken    []string      // over from agents whose holds are not known
	started  time.Duration // when this run of the agent began
	runs     int           // of the agent, before this
	// resetShown is the LastResetTime that its driver has seen last.
	resetShown string
	enforced   map[string]time.Duration // when each hold was, in true time
	// heard is whether the hub was since the agent started; incarnation is the disk's.
	heard       bool
	incarnation string
	ids         int

	disk   []byte  // the record as it is on disk
	kept   *Record // what that decodes to, if it was asked for since it was saved
	watch  Watch
	events []Event
	conds  []resource.ConditionState
	told   []resource.Event // all that happened
	ended  []Ended          // attempts
	lost   bool             // the evidence of the fetch under way is lost
	fails  bool             // images of discoveries report that they failed

	// then is done at the moment of that number: before and after each effect.
	moments, at int
	then        func()
	// midCall is done during the next call to the BMC; crashIn counts the effects
	// until the agent dies, 0 is never.
	midCall func()
	crashIn int
	read    *Identity // the inventory was read, and is not folded yet
}

var worldStart = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// judge is a test, of rapid or of its own.
type judge interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newWorld(t judge) *world {
	w := &world{t: t, m: newMachine(), enforced: map[string]time.Duration{}, local: true, heard: true, incarnation: "disk-0"}
	w.w = &witness{t: t, world: w, netAttempts: map[string]map[string]bool{}, fetched: map[string]bool{}, usedFor: map[string]*message.Grant{}, fetchedAt: map[string]int{}, waited: map[string]bool{}, writes: map[string]int{}, before: map[string]map[string]string{}, ended: map[string]resource.Outcome{}}
	w.m.mediaboot, w.m.cached = w.mediaboot, w.cachedMedium
	w.m.netboot, w.m.fetched, w.m.installed, w.m.consumed = w.netboot, w.fetchedFile, w.report, w.w.consumed
	w.save(Record{Server: "server-1"})
	return w
}

// claim binds the server to a new claim with a grant for its first boot.
func (w *world) claim(maxAttempts int) {
	w.claims++
	if w.w != nil {
		w.w.orders++
	}
	uid := fmt.Sprintf("claim-%d", w.claims)
	w.intent = &message.ServerIntent{
		Server: "server-1", UID: "uid-1", Owner: resource.Owner{Name: "c", UID: uid}, Power: resource.WantOn,
		Boot: &message.BootIntent{
			Owner:       resource.Owner{UID: uid},
			GrantedBoot: resource.GrantedBoot{Generation: 1, GrantFor: w.incarnation, BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd}, Image: resource.Image{Digest: "sha256:image", Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: "sha256:uki"}}}}},
		},
	}
	w.grant = &message.Grant{
		OwnerUID: uid, Generation: 1, Server: "server-1", ServerUID: "uid-1", ImageDigest: "sha256:image",
		FirstBoot: resource.FirstBootUefiHTTP, MaxAttempts: maxAttempts, IssuedAt: w.clock(),
	}
	w.poke()
}

func (w *world) clock() time.Time { return worldStart.Add(w.now + w.offset) }

// hubTime is the hub's clock, which nothing here steps.
func (w *world) hubTime() time.Time { return worldStart.Add(w.now) }

// renew is what a rolled-back disk comes to, without its being rolled back.
func (w *world) renew() {
	w.ids++
	w.incarnation = fmt.Sprintf("disk-%d", w.ids)
	was := w.record()
	r, _ := Renew(w.clock(), was)
	w.w.attempt(was.Attempt, r.Attempt)
	w.save(r)
	w.poke()
}

func (w *world) settings() Settings {
	return Settings{SoftTimeout: 20 * time.Second, SettleWindow: 5 * time.Second, PollInterval: 15 * time.Second}
}

func (w *world) save(r Record) {
	raw, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.kept != nil {
		if was, err := json.Marshal(w.kept); err != nil || !bytes.Equal(was, w.disk) {
			w.t.Fatalf("the record in snapshots was changed:\n%s\n%s", w.disk, was)
		}
	}
	w.disk, w.kept = raw, nil
}

// stored is the record for snapshots, which decisions may not change in place.
func (w *world) stored() Record {
	if w.kept == nil {
		r := w.record()
		w.kept = &r
	}
	return *w.kept
}

func (w *world) record() (r Record) {
	if err := json.Unmarshal(w.disk, &r); err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) poke() { w.wake = w.now }

// pass lets time pass for machine and world, without the agent's loop.
func (w *world) pass(d time.Duration) {
	w.now += d
	w.m.advance(w.now)
}

// run lets time pass with the agent at work.
func (w *world) run(d time.Duration) {
	for end := w.now + d; w.now < end; {
		if w.wake <= w.now {
			w.turn()
			continue
		}
		until := min(end, w.wake)
		if w.m.due > w.now {
			until = min(until, w.m.due) // evidence pokes the loop
		}
		w.pass(until - w.now)
	}
}

// crash ends the agent if its time has come, and starts it again.
func (w *world) crash() bool {
	if w.crashIn == 0 {
		return false
	}
	w.crashIn--
	if w.crashIn > 0 {
		return false
	}
	w.restart()
	return true
}

func (w *world) restart() {
	was := w.record()
	r, _ := Recover(was)
	w.w.attempt(was.Attempt, r.Attempt)
	w.save(r)
	w.watch, w.events, w.read = Watch{}, nil, nil
	w.heard, w.started = w.ids%3 != 0, w.now
	w.runs++
	w.resetShown = ""
	w.w.restarted()
	switch {
	case w.m.loading && w.ids%2 == 0:
		w.lost = true // the last byte had left, and nobody lives who saw it
		w.m.hang = w.ids%4 == 0
	case w.m.loading:
		w.m.stall() // firmware gives up; the EFI shell waits
	}
	w.poke()
}

// moment is one between two effects.
func (w *world) moment() {
	w.moments++
	if f := w.then; f != nil && w.moments >= w.at {
		w.then = nil
		f()
	}
}

// call is one exchange with the BMC.
func (w *world) call(do func()) {
	w.moment()
	w.pass(50 * time.Millisecond)
	w.moment()
	do()
	w.moment()
	if f := w.midCall; f != nil {
		w.midCall = nil
		f()
	}
	w.pass(50 * time.Millisecond)
}

// turn is the agent's: observe, decide, persist, act until nothing is to be done.
func (w *world) turn() {
	var result *Result
	for n := 0; ; n++ {
		if n > 9 {
			w.t.Fatalf("%d actions without a pause, the last %+v", n, result)
		}
		o := protocol.Observation{Server: "server-1", Source: protocol.SourcePoll, StartedAt: w.clock()}
		span := ReadSpan{Sent: w.now - w.started}
		w.call(func() {
			o.Power = w.m.shown()
			if o.Power != protocol.PowerUnreachable && o.Power != protocol.PowerUnknown {
				o.Override = w.m.override
				if o.LastResetTime = w.m.lastResetTime(); o.LastResetTime != w.resetShown { // as the driver does
					w.resetShown, o.ManagerTime = o.LastResetTime, w.m.managerTime()
				}
				if w.m.os {
					o.BootProgress = "OSRunning"
				}
				if w.m.task != "" {
					o.Order, w.m.task = protocol.BMCFault{Kind: protocol.FaultTask, Reset: w.m.task}, ""
				}
			}
			switch {
			case o.Power == protocol.PowerUnknown:
				o.Fault.Kind = protocol.FaultCut
			case o.Power == protocol.PowerUnreachable && w.m.faults.Drip:
				o.Fault.Kind = protocol.FaultSlow
			}
		})
		o.ReadAt = w.clock()
		span.Answered = w.now - w.started
		w.w.read(o)
		w.w.off.read(o, span)
		w.moment()
		plan := w.step(func(s *Snapshot) { s.Observation, s.Read, s.Result = &o, span, result })
		if w.crash() {
			return
		}
		if plan.Action.Kind == ActNone {
			w.wake = w.now + max(plan.RecheckAt.Sub(w.clock()), time.Millisecond)
			return
		}
		r := w.act(plan.Action)
		if w.crash() {
			return
		}
		result = &r
	}
}

func (w *world) snapshot() Snapshot {
	w.ids++
	s := Snapshot{
		Server: "server-1", Synced: true, Intent: w.intent, Holds: slices.Clone(w.holds), Requests: slices.Clone(w.requests), Asked: slices.Clone(w.asked),
		Settings: w.settings(), TakenOver: w.taken, Artefacts: Artefacts{Local: w.local}, Chain: w.chain(), Record: w.stored(), Watch: w.watch,
		Firmware: w.firmware, Frozen: w.frozen, Place: w.queue, CanGuard: true, Uptime: w.now - w.started,
		Incarnation: w.incarnation, Run: fmt.Sprintf("run-%d", w.runs), NewID: fmt.Sprintf("id-%d", w.ids), NewToken: fmt.Sprintf("token-%d", w.ids), NewMedium: fmt.Sprintf("medium-%d", w.ids), NewPrivate: fmt.Sprintf("private-%d", w.ids), Private: w.private,
	}
	if w.heard {
		s.HubTime = w.hubTime()
	}
	if w.intent != nil && w.intent.Boot != nil {
		s.Grant = w.forged.of(w.grant)
	}
	return s
}

func (w *world) step(fill func(*Snapshot)) Plan {
	s := w.snapshot()
	s.Events = w.events
	s.Identity, w.read = w.read, nil
	fill(&s)
	plan := w.w.step(w.clock(), s)
	if plan.Persist {
		w.save(plan.Record)
	}
	for _, e := range plan.Expire {
		w.expire(e)
	}
	w.watch, w.events = plan.Watch, nil
	w.told, w.ended = append(w.told, plan.Happened...), append(w.ended, plan.Measured.Ended...)
	if !s.Passive {
		w.conds = plan.Record.Conditions
	}
	return plan
}

func (w *world) act(a Action) Result {
	r := Result{Action: a.Kind, Attempt: a.Attempt}
	if len(w.taken) > 0 && (a.Kind == ActOn || a.Kind == ActRestart) {
		w.t.Fatalf("%s while holds of %v are not known", a.Kind, w.taken)
	}
	if a.Kind == ActOn || a.Kind == ActRestart || a.Kind == ActInsert || a.Kind == ActArm {
		if w.frozen != nil && IsFrozen(w.frozen, w.hubTime(), w.clock()) && w.hubTime().Equal(w.clock()) {
			w.t.Fatalf("%s %+v of a frozen server", a.Kind, a.Override)
		}
	}
	if (a.Kind == ActOn || a.Kind == ActRestart) && w.queue.Limited && !w.queue.Has {
		w.t.Fatalf("%s of a server that has no place", a.Kind)
	}
	w.call(func() {
		var hub time.Time
		if w.heard {
			hub = w.hubTime()
		}
		if !Permits(a.Kind, w.holds, Working(w.firmware, hub, w.clock()), IsFrozen(w.frozen, hub, w.clock())) {
			r.Code = protocol.CodeConflict // as the shell does
			return
		}
		switch a.Kind {
		case ActReadPolicy, ActGuard, ActUnguard:
			w.w.policy(a)
			r.Policy, r.Code = w.m.setPolicy(a.Policy)
		case ActArm, ActDisarm:
			w.w.setBoot(a)
			switch {
			case w.m.faults.NoTag:
				r.Stored, r.Outcome, r.Code, r.Fault.Kind = w.m.override, protocol.BootRefusedByState, protocol.CodeConflict, protocol.FaultPrecondition
			case a.Kind == ActDisarm:
				r.Stored, r.Outcome, r.Code = w.m.disarm(a.Override)
			case a.URI && !w.m.faults.NoURL:
				r.Stored, r.Outcome, r.Code = w.m.setURI(a.Override, w.record().Residue.URL().Token)
			case a.URI && !a.Plain:
				r.Outcome, r.Code = protocol.BootUnsupported, protocol.CodeUnsupported
			default:
				r.Stored, r.Outcome, r.Code = w.m.setBoot(a.Override)
				r.Plain = a.URI // as the shell does
			}
			r.Read, r.Busy = r.Stored, r.Outcome == protocol.BootRefusedByState
		case ActInsert:
			r.Code, r.Busy, r.Occupied = w.m.insert(w.record().Residue.Medium().Token)
			r.Message, r.Config = "drive", true
		case ActEject:
			r.Code, r.Busy = w.m.eject()
		case ActClearURL:
			r.Code, r.Busy = w.m.clearURL()
			r.Pending = r.Code == "" && w.m.unset
		case ActReadFirmware, ActWriteFirmware:
			w.firmwareAct(a, &r)
		case ActOn, ActRestart:
			w.w.on()
			if w.m.ordered = ""; w.intent != nil {
				w.m.ordered = w.intent.Owner.UID
			}
			r.Code, r.Busy = w.m.reset(a.Kind)
		default:
			r.Code, r.Busy = w.m.reset(a.Kind)
		}
	})
	r.At = w.clock()
	return r
}

// expire ends a hold whose time to live is over.
func (w *world) expire(e resource.Release) {
	i := slices.IndexFunc(w.holds, func(h Hold) bool { return h.ID == e.HoldID })
	h := w.holds[i]
	if lay := w.now - w.enforced[h.ID]; lay < h.TTL.D() || h.OnExpiry != resource.ExpiryRelease || h.TTL <= 0 {
		w.t.Fatalf("P1: hold %+v ended after %v", h, lay)
	}
	w.lift(i)
}

func (w *world) release(i int) {
	w.lift(i)
	w.w.orders++ // whoever lets it run again orders that
}

func (w *world) lift(i int) {
	w.holds = slices.Delete(slices.Clone(w.holds), i, i+1)
	w.poke()
}

// fold puts evidence on disk before it is answered.
func (w *world) fold(e Event) {
	w.events = append(w.events, e)
	w.step(func(s *Snapshot) { s.Passive = true })
	w.poke()
}

func (w *world) netboot(target protocol.BootTarget) (time.Duration, bool) {
	if w.m.uri != "" && target == protocol.TargetUefiHTTP {
		return w.uriBoot()
	}
	rec := w.record()
	c := protocol.BootClient{MAC: "52:54:00:00:00:01", Class: protocol.ClassHTTPClient, Archs: []uint16{16}}
	if target == protocol.TargetPxe {
		c.Class, c.Archs = protocol.ClassPXEClient, []uint16{7}
	}
	w.events = append(w.events, Event{Kind: protocol.EvidenceDHCP, Class: c.Class, At: w.clock()})
	w.poke()
	answer := Serve(ServeSnapshot{Synced: true, Server: "server-1", Held: len(w.holds) > 0, Attempt: rec.Attempt, Architecture: "amd64"}, c)
	w.w.served(answer)
	if answer.Action != protocol.AnswerBoot || !MayFetch(len(w.holds) > 0, false, rec.Attempt, answer.Token, answer.File) {
		return 0, false
	}
	return w.load(answer.Token)
}

// load is the last file of the boot, asked for by the token in its URL.
func (w *world) load(token string) (time.Duration, bool) {
	w.fold(Event{Begun: true, Token: token, At: w.clock()})
	a := w.record().Attempt
	if !MayFetch(len(w.holds) > 0, false, a, token, a.Order.File) || !a.Marks.Served {
		return 0, false
	}
	w.lost = false
	w.m.probe = a.forDiscovery()
	w.w.token = token
	return 2 * time.Second, true
}

// fetchedFile is the last byte of the boot file.
func (w *world) fetchedFile() {
	w.w.fetchedFile(w.record())
	if w.lost {
		w.lost = false
		return
	}
	w.events = append(w.events, Event{Kind: protocol.EvidenceFetched, File: w.last(), Token: w.w.token, At: w.clock()})
	w.poke()
}

func (w *world) report() bool {
	a, token := w.record().Attempt, w.w.token
	if a.knows(token) && a.Private != "" {
		token = a.Private // it reads the config image, or its own URL
	}
	if !a.takesReport(token) {
		return false
	}
	kind := protocol.EvidenceInstalled
	if w.m.probe {
		kind = protocol.EvidenceDiscovered
		if w.fails {
			kind = protocol.EvidenceFailed
		}
	}
	w.fold(Event{Kind: kind, Token: token, At: w.clock(), Message: "of a disk that hangs", Attested: w.proof.attested, Unattested: w.proof.code})
	return true
}
