package reports

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// reportDebounce gathers changes that come together into one report.
const reportDebounce = 100 * time.Millisecond

// Of one shard, reportBurst reports may come at once, then one every reportEvery.
const (
	reportBurst = 10
	reportEvery = time.Second
	// foundEvery keeps a scan that finds many from using that up.
	foundEvery = 2 * time.Second
)

// What a hold has come to goes out at once, past reportDebounce and the limit of its
// shard: hurryBurst reports together, then hurryEvery. What is beyond that goes the
// ordinary way.
const (
	hurryBurst = 50
	hurryEvery = 50 * time.Millisecond
)

// wholeTurns is how many inventories that the hub was sent before go with a whole shard
// without news.
const wholeTurns = 6

// Config is what the room is made of.
type Config struct {
	Agent, Rack, Run, Version string
	// Metrics is where others reach the agent's metrics page; empty is nowhere.
	Metrics protocol.MetricsAddress
	// Every is the longest time between two reports of a shard.
	Every      time.Duration
	Clock      state.Clock
	Registerer prometheus.Registerer
}

// Sender sends what the room gives it.
type Sender interface {
	// Report sends reports, and fills in what is the same in all. After an error they are
	// lost, as they may be on the way: the next ones say the same.
	Report(reports []message.Report) error
	// Events sends events that wait, and returns when to look again.
	Events() time.Duration
}

// Found are the BMCs that were found.
type Found interface{ Found() []resource.FoundBMC }

// Room has what the servers' last steps said, and the agent's conditions. It reports a shard
// when something in it has changed, and at the latest every Config.Every: what has changed since the report
// that the hub says it has, else all of it.
// A server stays in its shard as long as the agent runs. Make it with New, then call Run
// once. All methods are safe for concurrent use; only Run waits.
type Room struct {
	cfg     Config
	counts  *prometheus.CounterVec // reports of holds, by way
	told    *prometheus.CounterVec // reports, by how much they tell
	poked   chan struct{}
	hurried chan struct{} // as poked, and at once

	mu      sync.Mutex
	servers map[string]resource.ServerReport
	phases  map[string]resource.Phase
	conds   map[resource.ConditionCode]raised
	shards  []*shard
	shardOf map[string]*shard
	seq     uint64
	found   bool   // there is news of BMCs that were found
	void    string // why nothing is proved now; empty while it may be
	upgrade *message.UpgradeReport
	hurry   *rate.Limiter
}

// raised is a condition, and until when it is so; zero is until it is cleared.
type raised struct {
	resource.ConditionState
	until time.Time
}

// shard is the servers that are reported together.
type shard struct {
	names   []string // in the order in which they came
	changed bool
	urgent  bool // a hold in it has come to something, and hurry allowed it
	sent    time.Time
	limit   *rate.Limiter
	said    said
	part    bool // not all inventories were sent yet
	// inventories are those of the images of its servers.
	inventories inventories
}

func newShard() *shard {
	return &shard{changed: true, limit: rate.NewLimiter(rate.Every(reportEvery), reportBurst), said: said{revisions: map[string]uint64{}}}
}

// New makes the room.
func New(cfg Config) *Room {
	r := &Room{
		cfg: cfg, poked: make(chan struct{}, 1), hurried: make(chan struct{}, 1), hurry: rate.NewLimiter(rate.Every(hurryEvery), hurryBurst),
		shards: []*shard{newShard()}, shardOf: map[string]*shard{},
		servers: map[string]resource.ServerReport{}, phases: map[string]resource.Phase{}, conds: map[resource.ConditionCode]raised{},
		counts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_hold_reports_total", Help: "Reports that a hold has come to something, by whether they went out at once or, because of too many, the ordinary way.",
		}, []string{"way"}),
		told: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_reports_total", Help: "Reports to the hub, by how much of a shard they tell: all of it, what has changed since one that the hub has, or nothing but when servers were read.",
		}, []string{"tells"}),
	}
	for _, t := range []tells{tellsAll, tellsChanges, tellsReads} {
		r.told.WithLabelValues(string(t))
	}
	for _, way := range []string{hurriedAtOnce, hurriedLater} {
		r.counts.WithLabelValues(way)
	}
	cfg.Registerer.MustRegister(r.counts, r.told, newEnvironments(r))
	return r
}

// Put takes a server's report, and its phase for the metrics: a report does not
// carry it, because the hub computes it from its own intent.
func (r *Room) Put(s resource.ServerReport, phase resource.Phase) {
	r.mu.Lock()
	s, _ = unproved(s, r.void)
	sh := r.shardOf[s.Server]
	if sh == nil {
		sh = r.room()
		sh.names = append(sh.names, s.Server)
		r.shardOf[s.Server] = sh
	}
	last := r.servers[s.Server]
	news := !sameButRead(s, last)
	if news {
		sh.changed = true
		sh.said.changes(s.Server)
	}
	hurry := news && holdsMoved(last.Holds, s.Holds)
	if hurry && !sh.urgent { // else it goes with the one that waits
		sh.urgent = r.hurry.AllowN(r.cfg.Clock(), 1)
		r.counted(sh.urgent)
	}
	hurry = hurry && sh.urgent
	r.servers[s.Server], r.phases[s.Server] = s, phase
	r.mu.Unlock()
	switch {
	case hurry:
		signal(r.hurried)
	case news:
		r.Poke()
	}
}

// Unprove withdraws all that was proved of servers, until Prove.
func (r *Room) Unprove(why string) {
	r.mu.Lock()
	r.void = why
	for name, s := range r.servers {
		if s, changed := unproved(s, why); changed {
			r.servers[name] = s
			sh := r.shardOf[name]
			sh.changed, sh.urgent = true, true
			sh.said.changes(name)
		}
	}
	r.mu.Unlock()
	signal(r.hurried)
}

// Prove lets reports say again what is proved.
func (r *Room) Prove() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.void = ""
}

// unproved is a report without proofs, if there is a reason why none counts.
func unproved(s resource.ServerReport, why string) (_ resource.ServerReport, changed bool) {
	if why == "" {
		return s, false
	}
	s.Holds = slices.Clone(s.Holds)
	for i := range s.Holds {
		h := &s.Holds[i]
		if h.Word != resource.HoldFenced {
			continue
		}
		h.Word, h.Receipt, h.Reason, changed = resource.HoldEnforced, nil, why, true
		if h.State == resource.StateFenced {
			h.State = resource.StateEnforced
		}
	}
	return s, changed
}

// holdsMoved says whether a hold came, went, or has come to another word or state: what
// people wait for.
func holdsMoved(last, now []resource.HoldReport) bool {
	return !slices.EqualFunc(last, now, func(a, b resource.HoldReport) bool {
		return a.ID == b.ID && a.Word == b.Word && a.Mode == b.Mode && a.State == b.State && (a.Released == nil) == (b.Released == nil)
	})
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sameButRead says whether two reports say the same of different reads.
func sameButRead(a, b resource.ServerReport) bool {
	for _, o := range []*protocol.Observation{&a.Observation, &b.Observation} {
		o.ReadAt, o.StartedAt, o.Source = time.Time{}, time.Time{}, ""
	}
	return reflect.DeepEqual(a, b)
}

// room is the first shard with room; it needs r.mu.
func (r *Room) room() *shard {
	for _, sh := range r.shards {
		if len(sh.names) < message.MaxServersPerShard {
			return sh
		}
	}
	sh := newShard()
	r.shards = append(r.shards, sh)
	return sh
}

// Phase returns how far a server is by its last report; empty before.
func (r *Room) Phase(server string) resource.Phase {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.phases[server]
}

// Of is the last report of one server.
func (r *Room) Of(server string) (s resource.ServerReport, phase resource.Phase, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok = r.servers[server]
	return s, r.phases[server], ok
}

// Known reports whether the server has a report.
func (r *Room) Known(server string) bool {
	_, _, ok := r.Of(server)
	return ok
}

// Raise gives the agent a condition until it is cleared.
func (r *Room) Raise(code resource.ConditionCode, detail string) { r.RaiseFor(code, detail, 0) }

// RaiseFor raises a condition that ends by itself after d; 0 is never.
func (r *Room) RaiseFor(code resource.ConditionCode, detail string, d time.Duration) {
	r.mu.Lock()
	now := r.cfg.Clock()
	c, ok := r.conds[code]
	news := !ok || c.Message != detail
	if !ok {
		c.Since = now
	}
	c.Code, c.Message = code, detail
	if d > 0 {
		c.until = now.Add(d)
	}
	r.conds[code] = c
	r.mu.Unlock()
	if news { // else each answer to a report would cause one
		r.PokeAll()
	}
}

// Clear ends a condition of the agent.
func (r *Room) Clear(code resource.ConditionCode) {
	r.mu.Lock()
	_, ok := r.conds[code]
	delete(r.conds, code)
	r.mu.Unlock()
	if ok {
		r.PokeAll()
	}
}

// StoreTrouble raises a condition if an error is of a store that cannot be written, and
// returns the error.
func (r *Room) StoreTrouble(err error) error {
	if protocol.CodeOf(err) == protocol.CodeUnavailable {
		r.Raise(resource.CondGuardMode, err.Error())
	}
	return err
}

// PutUpgrade takes how far the agent is with the last order to run another release.
func (r *Room) PutUpgrade(u message.UpgradeReport) {
	r.mu.Lock()
	r.upgrade = &u
	r.shards[0].changed = true
	r.mu.Unlock()
	r.Poke()
}

// PokeAll sends reports of everything soon.
func (r *Room) PokeAll() {
	r.mu.Lock()
	for _, sh := range r.shards {
		sh.changed = true
	}
	r.mu.Unlock()
	r.Poke()
}

// Had takes which report of each shard the hub has, by message.Sync.Reported. One that it has
// lost is said again soon.
func (r *Room) Had(reported []uint64) {
	lost := false
	r.mu.Lock()
	for i, sh := range r.shards {
		seq := uint64(0)
		if i < len(reported) {
			seq = reported[i]
		}
		if sh.said.had(seq) {
			sh.changed, lost = true, true
			sh.inventories.sent = nil
		}
	}
	r.mu.Unlock()
	if lost {
		r.Poke()
	}
}

// PokeFound sends what was found, foundEvery after the last report.
func (r *Room) PokeFound() {
	r.mu.Lock()
	news := !r.found
	r.found = true
	r.mu.Unlock()
	if news {
		r.Poke()
	}
}

// Poke sends what has changed, and events, soon.
func (r *Room) Poke() { signal(r.poked) }

// Snapshot is what would be reported now.
func (r *Room) Snapshot() (servers []resource.ServerReport, conds []resource.ConditionState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.servers)) {
		servers = append(servers, r.servers[name])
	}
	return servers, r.conditions()
}

// conditions are those that are so now; it needs r.mu.
func (r *Room) conditions() (conds []resource.ConditionState) {
	now := r.cfg.Clock()
	for code, c := range r.conds {
		if !c.until.IsZero() && now.After(c.until) {
			delete(r.conds, code)
			continue
		}
		conds = append(conds, c.ConditionState)
	}
	slices.SortFunc(conds, func(a, b resource.ConditionState) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return conds
}

// Run gives the sender what is due until ctx ends.
func (r *Room) Run(ctx context.Context, found Found, to Sender) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-r.hurried:
		case <-r.poked:
			select {
			case <-ctx.Done():
				return
			case <-r.hurried:
			case <-time.After(reportDebounce):
			}
		}
		timer.Reset(r.send(found, to))
	}
}

// send gives the sender what is due, and returns when to look again.
func (r *Room) send(found Found, to Sender) time.Duration {
	reports, next := r.due(found)
	if len(reports) > 0 {
		if err := to.Report(reports); err != nil {
			return reportEvery
		}
	}
	return min(r.cfg.Every, next, to.Events())
}

// due are the reports to send now, without what is the same in all, and when the
// next are due.
func (r *Room) due(finder Found) (reports []message.Report, next time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Clock()
	next = r.cfg.Every
	conds := r.conditions()
	for i, sh := range r.shards {
		rest := r.cfg.Every - now.Sub(sh.sent)
		if i == 0 && r.found {
			rest = min(rest, foundEvery-now.Sub(sh.sent))
		}
		if !sh.changed && rest > 0 {
			next = min(next, rest)
			continue
		}
		if !sh.urgent && !sh.limit.AllowN(now, 1) {
			next = min(next, reportEvery)
			continue
		}
		r.seq++
		m := message.Report{
			Agent: r.cfg.Agent, Rack: r.cfg.Rack, Run: r.cfg.Run, Seq: r.seq, At: now, Version: r.cfg.Version, Metrics: r.cfg.Metrics,
			Shard: i, Shards: len(r.shards), Conditions: conds,
		}
		if i == 0 {
			m.Upgrade = r.upgrade
		}
		found := i == 0 && r.found
		tells, names := sh.said.tells(sh.sorted(), m.Seq, sh.changed || found, found || sh.part, now)
		m.Servers, m.Revisions = r.of(names), sh.said.of(names)
		for k := range m.Servers {
			m.Servers[k].ReadAge = ReadAge(now, m.Servers[k].Observation)
		}
		if tells == tellsAll {
			turns := wholeTurns
			if sh.changed || found {
				turns = 1
			}
			sh.part = !sh.inventories.carry(m.Servers, turns)
			if i == 0 {
				m.Found, r.found = finder.Found(), false
			}
		} else {
			m.As, m.Digest = sh.said.hub, sh.said.digest(sh.sorted())
			for _, s := range r.of(sh.sorted()) {
				m.Reads = append(m.Reads, message.Read{Age: ReadAge(now, s.Observation), Took: s.Observation.ReadAt.Sub(s.Observation.StartedAt)})
			}
		}
		if tells == tellsChanges {
			sh.part = !sh.inventories.carry(m.Servers, 1)
		}
		r.told.WithLabelValues(string(tells)).Inc()
		sh.changed, sh.urgent, sh.sent = false, false, now
		reports = append(reports, m)
	}
	return reports, next
}

// sorted are the names of its servers.
func (sh *shard) sorted() []string { return slices.Sorted(slices.Values(sh.names)) }

// of are the reports of servers; it needs r.mu.
func (r *Room) of(names []string) (out []resource.ServerReport) {
	for _, name := range names {
		out = append(out, r.servers[name])
	}
	return out
}

// ReadAge is how long ago a read was begun; 0 where there is none.
func ReadAge(now time.Time, o protocol.Observation) time.Duration {
	if o.StartedAt.IsZero() {
		return 0
	}
	return max(time.Millisecond, now.Sub(o.StartedAt))
}

// What became of a report that a hold has come to something, as the metric counts it.
const (
	hurriedAtOnce = "at_once"
	hurriedLater  = "ordinary"
)

// counted counts a report that a hold has come to something.
func (r *Room) counted(atOnce bool) {
	way := hurriedLater
	if atOnce {
		way = hurriedAtOnce
	}
	r.counts.WithLabelValues(way).Inc()
}
