package agent

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
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

// reporter sends what the servers' last steps said: of each shard the whole, when
// something in it has changed and at the latest every Config.ReportEvery. A server
// stays in its shard as long as the agent runs.
type reporter struct {
	agent   *Agent
	poked   chan struct{}
	hurried chan struct{} // as poked, and at once

	mu      sync.Mutex
	servers map[string]resource.ServerReport
	phases  map[string]resource.Phase
	conds   map[resource.ConditionCode]raised
	shards  []*shard
	shardOf map[string]*shard
	seq     uint64
	found   bool // there is news of BMCs that were found
	hurry   *rate.Limiter

	backlog backlog
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
	// inventories are those of the images of its servers.
	inventories inventories
}

func newShard() *shard {
	return &shard{changed: true, limit: rate.NewLimiter(rate.Every(reportEvery), reportBurst)}
}

func newReporter(a *Agent) *reporter {
	return &reporter{
		agent: a, poked: make(chan struct{}, 1), hurried: make(chan struct{}, 1), hurry: rate.NewLimiter(rate.Every(hurryEvery), hurryBurst),
		shards: []*shard{newShard()}, shardOf: map[string]*shard{},
		servers: map[string]resource.ServerReport{}, phases: map[string]resource.Phase{}, conds: map[resource.ConditionCode]raised{},
	}
}

// put takes a server's report, and its phase for the metrics: a report does not
// carry it, because the hub computes it from its own intent.
func (r *reporter) put(s resource.ServerReport, phase resource.Phase) {
	r.mu.Lock()
	sh := r.shardOf[s.Server]
	if sh == nil {
		sh = r.room()
		sh.names = append(sh.names, s.Server)
		r.shardOf[s.Server] = sh
	}
	last := r.servers[s.Server]
	news := !sameButRead(s, last)
	sh.changed = sh.changed || news
	hurry := news && holdsMoved(last.Holds, s.Holds)
	if hurry && !sh.urgent { // else it goes with the one that waits
		sh.urgent = r.hurry.AllowN(r.agent.cfg.Clock(), 1)
		r.agent.met.hurry(sh.urgent)
	}
	hurry = hurry && sh.urgent
	r.servers[s.Server], r.phases[s.Server] = s, phase
	r.mu.Unlock()
	switch {
	case hurry:
		wake(r.hurried)
	case news:
		r.poke()
	}
}

// holdsMoved says whether a hold came, went, or has come to another word or state: what
// people wait for.
func holdsMoved(last, now []resource.HoldReport) bool {
	return !slices.EqualFunc(last, now, func(a, b resource.HoldReport) bool {
		return a.ID == b.ID && a.Word == b.Word && a.State == b.State && (a.Released == nil) == (b.Released == nil)
	})
}

func wake(c chan struct{}) {
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
func (r *reporter) room() *shard {
	for _, sh := range r.shards {
		if len(sh.names) < message.MaxServersPerShard {
			return sh
		}
	}
	sh := newShard()
	r.shards = append(r.shards, sh)
	return sh
}

func (r *reporter) phase(server string) resource.Phase {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.phases[server]
}

// of is the last report of one server.
func (r *reporter) of(server string) (s resource.ServerReport, phase resource.Phase, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok = r.servers[server]
	return s, r.phases[server], ok
}

// Known implements trace.Servers.
func (r *reporter) Known(server string) bool {
	_, _, ok := r.of(server)
	return ok
}

func (r *reporter) raise(code resource.ConditionCode, detail string) { r.raiseFor(code, detail, 0) }

// raiseFor raises a condition that ends by itself after d; 0 is never.
func (r *reporter) raiseFor(code resource.ConditionCode, detail string, d time.Duration) {
	r.mu.Lock()
	now := r.agent.cfg.Clock()
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
		r.pokeAll()
	}
}

func (r *reporter) clear(code resource.ConditionCode) {
	r.mu.Lock()
	_, ok := r.conds[code]
	delete(r.conds, code)
	r.mu.Unlock()
	if ok {
		r.pokeAll()
	}
}

// pokeAll sends reports of everything soon.
func (r *reporter) pokeAll() {
	r.mu.Lock()
	for _, sh := range r.shards {
		sh.changed = true
	}
	r.mu.Unlock()
	r.poke()
}

// pokeFound sends what was found, foundEvery after the last report.
func (r *reporter) pokeFound() {
	r.mu.Lock()
	news := !r.found
	r.found = true
	r.mu.Unlock()
	if news {
		r.poke()
	}
}

// poke sends what has changed, and events, soon.
func (r *reporter) poke() { wake(r.poked) }

// snapshot is what would be reported now.
func (r *reporter) snapshot() (servers []resource.ServerReport, conds []resource.ConditionState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.servers)) {
		servers = append(servers, r.servers[name])
	}
	return servers, r.conditions()
}

// conditions are those that are so now; it needs r.mu.
func (r *reporter) conditions() (conds []resource.ConditionState) {
	now := r.agent.cfg.Clock()
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

func (r *reporter) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-r.hurried:
		case <-r.poked:
			select {
			case <-ctx.Done():
				return nil
			case <-r.hurried:
			case <-time.After(reportDebounce):
			}
		}
		timer.Reset(r.send())
	}
}

// send sends what is due, and returns when to look again.
func (r *reporter) send() time.Duration {
	wait := r.agent.cfg.ReportEvery
	reports, next := r.due()
	if len(reports) > 0 {
		in, err := r.agent.store.Applied()
		if err != nil {
			r.agent.log.Error("cannot read what is applied", "err", err)
			return reportEvery
		}
		session, nonce := r.agent.session.names()
		for _, m := range reports {
			m.Incarnation, m.Applied, m.Fence, m.Session, m.Nonce = in.Incarnation, in.Heads, in.Fence, session, nonce
			r.agent.publish(message.LeafReport, m)
		}
	}
	return min(wait, next, r.backlog.send(r.agent))
}

// due are the reports to send now, without what is the same in all, and when the
// next are due.
func (r *reporter) due() (reports []message.Report, next time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, now := r.agent, r.agent.cfg.Clock()
	next = a.cfg.ReportEvery
	conds := r.conditions()
	for i, sh := range r.shards {
		rest := a.cfg.ReportEvery - now.Sub(sh.sent)
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
		sh.changed, sh.urgent, sh.sent = false, false, now
		r.seq++
		m := message.Report{
			Agent: a.cfg.Agent, Rack: a.cfg.Rack, Seq: r.seq, At: now, Version: a.cfg.Version,
			Shard: i, Shards: len(r.shards), Conditions: conds,
		}
		for _, name := range slices.Sorted(slices.Values(sh.names)) {
			s := r.servers[name]
			s.ReadAge = readAge(now, s.Observation)
			m.Servers = append(m.Servers, s)
		}
		sh.inventories.carry(m.Servers)
		if i == 0 {
			m.Found, r.found = a.finder.Found(), false
		}
		reports = append(reports, m)
	}
	return reports, next
}
