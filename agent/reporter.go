package agent

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/protocol"
)

// reportDebounce gathers changes that come together into one report.
const reportDebounce = 100 * time.Millisecond

// eventBatch bounds the events in one message.
const eventBatch = 100

// reporter sends what the servers' last steps said, whole, when something has
// changed and at the latest every Config.ReportEvery.
type reporter struct {
	agent *Agent
	poked chan struct{}

	mu      sync.Mutex
	servers map[string]protocol.ServerReport
	phases  map[string]protocol.Phase
	conds   map[protocol.ConditionCode]protocol.ConditionState
	seq     uint64
}

func newReporter(a *Agent) *reporter {
	return &reporter{
		agent: a, poked: make(chan struct{}, 1),
		servers: map[string]protocol.ServerReport{}, phases: map[string]protocol.Phase{}, conds: map[protocol.ConditionCode]protocol.ConditionState{},
	}
}

// put takes a server's report, and its phase for the metrics: a report does not
// carry it, because the hub computes it from its own intent.
func (r *reporter) put(s protocol.ServerReport, phase protocol.Phase) {
	r.mu.Lock()
	r.servers[s.Server], r.phases[s.Server] = s, phase
	r.mu.Unlock()
	r.poke()
}

func (r *reporter) phase(server string) protocol.Phase {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.phases[server]
}

func (r *reporter) raise(code protocol.ConditionCode, message string) {
	r.mu.Lock()
	c, ok := r.conds[code]
	news := !ok || c.Message != message
	if !ok {
		c.Since = r.agent.cfg.Clock()
	}
	c.Code, c.Message = code, message
	r.conds[code] = c
	r.mu.Unlock()
	if news { // else each answer to a report would cause one
		r.poke()
	}
}

func (r *reporter) clear(code protocol.ConditionCode) {
	r.mu.Lock()
	_, ok := r.conds[code]
	delete(r.conds, code)
	r.mu.Unlock()
	if ok {
		r.poke()
	}
}

// poke sends a report of everything soon.
func (r *reporter) poke() {
	select {
	case r.poked <- struct{}{}:
	default:
	}
}

// snapshot is what would be reported now.
func (r *reporter) snapshot() (servers []protocol.ServerReport, conds []protocol.ConditionState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.servers)) {
		servers = append(servers, r.servers[name])
	}
	for _, c := range r.conds {
		conds = append(conds, c)
	}
	slices.SortFunc(conds, func(a, b protocol.ConditionState) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return servers, conds
}

func (r *reporter) run(ctx context.Context) error {
	every := time.NewTicker(r.agent.cfg.ReportEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		case <-r.poked:
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(reportDebounce):
			}
		}
		r.send()
	}
}

func (r *reporter) send() {
	a := r.agent
	heads, _, err := a.store.Applied()
	if err != nil {
		a.log.Error("cannot read what is applied", "err", err)
		return
	}
	servers, conds := r.snapshot()
	a.sessionMu.Lock()
	session := a.session
	a.sessionMu.Unlock()
	shards := max(1, (len(servers)+protocol.MaxServersPerShard-1)/protocol.MaxServersPerShard)
	for i := range shards {
		r.mu.Lock()
		r.seq++
		seq := r.seq
		r.mu.Unlock()
		from, to := i*protocol.MaxServersPerShard, min(len(servers), (i+1)*protocol.MaxServersPerShard)
		a.publish(protocol.LeafReport, protocol.Report{
			Agent: a.cfg.Agent, Rack: a.cfg.Rack, Incarnation: a.store.Incarnation(), Session: session, Seq: seq,
			At: a.cfg.Clock(), Version: a.cfg.Version, Applied: heads, Shard: i, Shards: shards,
			Servers: servers[from:to], Conditions: conds,
		})
	}
	events, _, err := a.store.Events(eventBatch)
	if err != nil {
		a.log.Error("cannot read the events", "err", err)
		return
	}
	if len(events) > 0 {
		a.publish(protocol.LeafEvent, protocol.EventBatch{Agent: a.cfg.Agent, Incarnation: a.store.Incarnation(), Session: session, Events: events})
	}
}
