package fleet

import (
	"math/rand/v2"
	"time"

	"rackboot/protocol/message"
)

const (
	// reportDebounce gathers changes into one report, and reportPause is the least between
	// two; what a hold has come to waits for hurryPause only. They are those of the agent.
	reportDebounce = 100 * time.Millisecond
	reportPause    = time.Second
	hurryPause     = 50 * time.Millisecond
)

// reports say when a report is due.
type reports struct {
	seq   uint64
	sent  time.Time
	since time.Time // when the first change came that was not reported; zero is none
	hurry bool
}

func (r *reports) news(now time.Time, hurry bool) {
	if r.since.IsZero() {
		r.since = now
	}
	r.hurry = r.hurry || hurry
}

// wait is how long until the next.
func (r *reports) wait(now time.Time, every time.Duration) time.Duration {
	at := r.sent.Add(every)
	if !r.since.IsZero() {
		at = later(r.since.Add(reportDebounce), r.sent.Add(reportPause))
	}
	if r.hurry {
		at = r.sent.Add(hurryPause)
	}
	return at.Sub(now)
}

// spread has the next one come at any moment: a fleet that was started at once would report
// at once for ever, as racks do not.
func (r *reports) spread(now time.Time, every time.Duration) { r.sent = now.Add(-rand.N(every)) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// report reports all servers if that is due, and returns when the next is.
func (a *agent) report(now time.Time) time.Duration {
	r := &a.reports
	if rest := r.wait(now, a.cfg.ReportEvery); rest > 0 {
		return rest
	}
	r.sent, r.since, r.hurry = now, time.Time{}, false
	heads, _ := a.disk.heads()
	all := a.disk.Servers
	shards := max(1, (len(all)+message.MaxServersPerShard-1)/message.MaxServersPerShard)
	for i := range shards {
		r.seq++
		m := message.Report{
			Agent: a.name, Rack: a.rack, Incarnation: a.disk.Incarnation, Session: a.session.id, Seq: r.seq, At: now, Version: version,
			Applied: heads, Shard: i, Shards: shards, Nonce: a.session.own, Fence: a.disk.Fence,
		}
		for _, s := range all[i*message.MaxServersPerShard : min(len(all), (i+1)*message.MaxServersPerShard)] {
			m.Servers = append(m.Servers, s.report(now))
		}
		if a.publish(message.LeafReport, m) {
			a.shared.counts.reports.Add(1)
		}
	}
	return r.wait(now, a.cfg.ReportEvery)
}

// version is what the agents say of themselves.
const version = "rackboot-sim fleet"
