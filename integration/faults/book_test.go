package faults

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"rackboot/bmc"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// book is what was promised to people, and what became of it. It is the one
// checker of every scenario: it compares the disks of both ends and the orders at
// the BMCs with the promises, at every step.
type book struct {
	site *site

	mu       sync.Mutex
	holds    map[string]bool   // accepted by the present hub and not released
	released map[string]uint64 // by hold: the highest epoch in which a release was accepted
	requests map[string]*asked
	grants   map[string]map[int]bool // by claim UID: the disks whose agent used its grant
	stops    map[stopping]time.Time  // when the first order of each was sent
	doubtful map[string]bool         // claims and requests that two lines of a hub's history may give
	forgiven map[string]bool         // those of which an old disk of the agent was not known to be old
	before   map[*agent]look
	problems map[string]bool
	seen     tally
}

// tally counts what a scenario was made of: one in which nothing happens proves
// nothing.
type tally struct {
	enforced, gone   int // holds at agents
	cycles, netboots int
	disks            int // incarnations that ended
	receipts         int
	violated         int // holds under which a server was seen to run
}

func (t *tally) add(o tally) {
	t.enforced, t.gone, t.cycles, t.netboots, t.disks = t.enforced+o.enforced, t.gone+o.gone, t.cycles+o.cycles, t.netboots+o.netboots, t.disks+o.disks
	t.receipts, t.violated = t.receipts+o.receipts, t.violated+o.violated
}

func (t tally) lacks() bool {
	return t.enforced == 0 || t.gone == 0 || t.cycles == 0 || t.netboots == 0 || t.disks == 0 || t.receipts == 0 || t.violated == 0
}

// asked is an accepted request.
type asked struct {
	resource.Request
	cycles  map[int]bool     // power cycles that were made for it, by the machine's count
	outcome resource.Outcome // that the present hub says
	lost    bool             // the hub that accepted it was rolled back to before
	// disturbed says that the server went off or on by itself, or its BMC lied: a stop
	// may have to be made twice.
	disturbed bool
}

// stopping is one stop of an agent's, whoever it is for: a hold that goes while a
// request waits leaves the stop to the request.
type stopping struct {
	server  string
	episode int
	since   int64 // of the agent's record, in ns
}

// look is an agent's disk as it was at the step before.
type look struct {
	found
	generation int
}

// order is what an agent sent to a BMC.
type order struct {
	agent   *agent
	server  string
	reset   bmc.ResetType
	running bool
	network bool // an override for a network boot is armed
	episode int
}

func newBook(s *site) *book {
	return &book{
		site: s, holds: map[string]bool{}, released: map[string]uint64{}, requests: map[string]*asked{},
		grants: map[string]map[int]bool{}, stops: map[stopping]time.Time{}, doubtful: map[string]bool{}, forgiven: map[string]bool{}, before: map[*agent]look{}, problems: map[string]bool{},
	}
}

// broken notes a broken promise, once.
func (b *book) broken(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !b.problems[text] {
		b.problems[text] = true
		b.site.t.Errorf("%s: %s", time.Now().UTC().Format("15:04:05.000"), text)
	}
}

// ordered is told of every order before the BMC does it. It returns the claim for
// which a server is powered on.
func (b *book) ordered(o order) (claim string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := o.agent.found()
	now := time.Now()
	rec := f.records[o.server]
	held, before := false, false
	for _, h := range f.holds {
		held = held || h.Server == o.server
		before = before || h.Server == o.server && h.EnforcedAt.Before(now) // else the two met
	}
	if o.reset == bmc.ResetOn {
		if before {
			b.broken("%s was powered on under a hold", o.server)
		}
		if rec.Attempt == nil {
			b.broken("%s was powered on without an attempt on disk", o.server)
			return ""
		}
		if claim = rec.Attempt.Order.OwnerUID; o.network {
			b.use(claim, o)
		}
		return claim
	}
	begun := b.stop(rec.Stop, o)
	in, known := f.intents[o.server]
	if !o.running || held || !known || in.Releasing || in.Power != resource.WantOn {
		return "" // nothing runs that could be cycled, or it is stopped for good
	}
	for _, q := range rec.Requests {
		if q.Outcome == resource.OutcomePending && q.StoppedAt.IsZero() {
			b.cycle(q, o, begun)
		}
	}
	return ""
}

// use notes a network boot: one disk may use a grant, no other.
func (b *book) use(claim string, o order) {
	if b.grants[claim] == nil {
		b.grants[claim] = map[int]bool{}
	}
	b.grants[claim][o.agent.generation] = true
	if len(b.grants[claim]) > 1 && !b.excused(claim) {
		b.broken("the grant of claim %s was used by %d disks", claim, len(b.grants[claim]))
	}
}

// netboot is told when firmware took an override for a network boot.
func (b *book) netboot(server, claim string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen.netboots++
	if n > grantAttempts && !b.excused(claim) {
		b.broken("%s was installed %d times for claim %s", server, n, claim)
	}
}

// grantAttempts is how often the hub's grants may be tried while nothing is fetched.
const grantAttempts = 3

// stop notes an order to stop and returns when the first one of the same stop was sent.
func (b *book) stop(s *decide.Stop, o order) time.Time {
	now := time.Now()
	if s == nil {
		b.broken("%s is stopped without a stop on disk", o.server)
		return now
	}
	at := stopping{o.server, o.episode, s.Since.UnixNano()}
	if _, sent := b.stops[at]; !sent {
		b.stops[at] = now
	}
	return b.stops[at]
}

// cycle notes that a running server is stopped for a request, by a stop that was begun
// then.
func (b *book) cycle(q decide.RequestState, o order, begun time.Time) {
	a := b.requests[q.ID]
	if a == nil {
		b.broken("%s is stopped for request %s, which nobody made", o.server, q.ID)
		return
	}
	if b.excused(q.ID) {
		return
	}
	if !a.cycles[o.episode] && begun.After(a.NotAfter) {
		b.broken("request %s begins %s after its notAfter", q.ID, begun.Sub(a.NotAfter))
	}
	if !a.cycles[o.episode] {
		b.seen.cycles++
	}
	a.cycles[o.episode] = true
	if len(a.cycles) > 1 && !a.disturbed {
		b.broken("request %s cycled %s %d times", q.ID, o.server, len(a.cycles))
	}
}

// disturbed says that something happens to a server that nobody ordered.
func (b *book) disturbed(server string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.requests {
		if a.Server == server && !ended(a.outcome) {
			a.disturbed = true
		}
	}
}

// checkReceipts: while a receipt was made, the server did not run (P3).
func (b *book) checkReceipts(a *agent, was, now found) {
	for server, rec := range now.records {
		for id := range rec.Holds.Violated {
			if _, old := was.records[server].Holds.Violated[id]; !old {
				b.seen.violated++
			}
		}
		for id, r := range rec.Holds.Receipts {
			if _, old := was.records[server].Holds.Receipts[id]; old {
				continue
			}
			b.seen.receipts++
			h, held := now.holds[id]
			switch {
			case !held:
				b.broken("%s has a receipt of %s for hold %s, which it does not enforce", a.name, server, id)
			case r.ConfirmedAt.Before(h.EnforcedAt) || r.Reads < 2 || r.ConfirmedAt.Sub(r.StoppedSince) < r.Settle:
				b.broken("the receipt of %s for hold %s proves nothing: %+v", server, id, r)
			case b.site.machines[server].comes(a.generation):
				b.broken("the receipt of %s for hold %s was made while an On was to come", server, id)
			case r.Run == "" || b.site.machines[server].gap(r.StoppedSince, r.ConfirmedAt) > r.GapBound:
				b.broken("the receipt of %s for hold %s has a hole: %+v", server, id, r)
			case b.site.machines[server].ran(a.generation, r.StoppedSince, r.ConfirmedAt):
				b.broken("%s ran while the receipt for hold %s was made: %+v", server, id, r)
			}
		}
	}
}

// check compares everything that is on disk with what was promised.
func (b *book) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.site.agents {
		b.checkAgent(a)
	}
	if b.site.hub.alive() {
		b.checkHub(b.site.hub)
	}
}

func (b *book) checkAgent(a *agent) {
	now := look{a.found(), a.generation}
	was, seen := b.before[a]
	b.before[a] = now
	if seen && was.incarnation != now.incarnation {
		b.seen.disks++
	}
	if !seen || was.generation != now.generation {
		return
	}
	for id := range now.holds {
		if _, there := was.holds[id]; !there {
			b.seen.enforced++
		}
	}
	b.checkReceipts(a, was.found, now.found)
	for doc, head := range was.heads {
		if head.Newer(now.heads[doc]) {
			b.broken("%s of %s went back from %v to %v", doc, a.name, head, now.heads[doc])
		}
	}
	for id, h := range was.holds {
		after, there := now.holds[id]
		if !there {
			b.seen.gone++
		}
		if epoch, released := b.released[id]; !there && (!released || epoch < was.heads[message.LeafHold].Epoch) {
			b.broken("hold %s on %s is gone from %s without a release", id, h.Server, a.name)
		}
		if there && after.ActiveHold != h.ActiveHold {
			b.broken("hold %s changed from %+v to %+v", id, h.ActiveHold, after.ActiveHold)
		}
	}
	for server, rec := range was.records {
		for claim, use := range rec.Owners.Used {
			after := now.records[server].Owners.Used[claim]
			if after.Attempts < use.Attempts && !givenBack(rec, use, after) || use.Spent && !after.Spent {
				b.broken("the use of the grant of %s went back from %+v to %+v", claim, use, after)
			}
		}
	}
}

// givenBack reports whether one use of a grant was taken back for the attempt that was being
// prepared and armed nothing. What firmware took is counted at the machines; see netboot.
func givenBack(was decide.Record, use, after decide.GrantUse) bool {
	a := was.Attempt
	return use.Attempts-after.Attempts == 1 && a != nil && a.Stage.State == resource.AttemptPreparing && a.Number == use.Attempts
}

func (b *book) checkHub(h *hub) {
	there := map[string]bool{}
	for _, o := range store.List[*resource.Hold](h.store.Objects) {
		id := o.Metadata.Name
		there[id] = o.Status.ReleasedAt == nil
		if there[id] {
			b.holds[id] = true // adopted, or accepted as the hub died
			continue
		}
		// Also of an earlier epoch: it is sent in this one.
		b.released[id] = max(b.released[id], h.epoch())
	}
	for id := range b.holds {
		if !there[id] {
			b.broken("hold %s is gone from the hub without a release", id)
			delete(b.holds, id)
		}
	}
	for id, a := range b.requests {
		if a.lost {
			continue
		}
		q, err := h.store.Requests.Get(id)
		switch {
		case protocol.CodeOf(err) == protocol.CodeNotFound && ended(a.outcome):
			a.lost = true // forgotten long after its end
		case err != nil:
			b.broken("request %s is lost: %v", id, err)
			a.lost = true
		case ended(a.outcome) && q.Report.Outcome != a.outcome:
			b.broken("request %s ended as %s and now as %s", id, a.outcome, q.Report.Outcome)
		default:
			a.outcome = q.Report.Outcome
		}
		if (a.outcome == resource.OutcomeExpired || a.outcome == resource.OutcomeRefused) && len(a.cycles) > 0 && !b.excused(id) {
			b.broken("request %s is called %s, and its server was cycled", id, a.outcome)
		}
	}
}

func ended(o resource.Outcome) bool { return o != "" && o != resource.OutcomePending }

// opened takes a hub that has started at its word: what was accepted is what its
// disk has. What a hub that was killed had accepted must be there.
func (b *book) opened(h *hub) {
	if h != b.site.hub {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checkHub(h)
}

// split says that a hub starts on a copy of another's history. What the copy knows,
// the other may have given, and seen the end of: if a disk of the agent is gone as
// well, nobody knows any more. One of the two faults alone is no excuse.
func (b *book) split(disk *storetest.Memory) {
	mark(b, b.site.stored(disk), b.doubtful)
}

// unseen says that an agent gets an old copy of its disk which has everything that
// the hub was told of: what the agent did since, without the hub, nobody knows.
func (b *book) unseen() { mark(b, b.site.stored(b.site.hub.disk.Load()), b.forgiven) }

func mark(b *book, st *store.Store, in map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range store.List[*resource.Claim](st.Objects) {
		in[c.Metadata.UID] = true
	}
	for _, q := range st.Requests.List() {
		in[q.ID] = true
	}
}

func (b *book) excused(id string) bool {
	return b.forgiven[id] || b.doubtful[id] && slices.ContainsFunc(b.site.agents, func(a *agent) bool { return a.generation > 0 })
}

// forget says that the hub gets an old copy of its disk: what was accepted since is
// not known there, and releases are not either.
func (b *book) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.holds)
	for _, a := range b.requests {
		a.lost = true
	}
}

// restored takes over the requests that the old copy has.
func (b *book) restored(h *hub) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, a := range b.requests {
		q, err := h.store.Requests.Get(id)
		a.lost, a.outcome = err != nil, q.Report.Outcome
	}
}
