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
	// reportWhole is how often all is said though the hub has it, as the agent does.
	reportWhole = 5 * time.Minute
)

// reports say when a report is due.
type reports struct {
	seq   uint64
	sent  time.Time
	since time.Time // when the first change came that was not reported; zero is none
	hurry bool
	// Of each shard: the first report with all that is so now, and the last with all of a
	// shard that the hub says it has.
	first, had []uint64
	whole      time.Time // from when reportWhole counts
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

// report reports all servers if that is due, and returns when the next is.
func (a *agent) report(now time.Time) time.Duration {
	r := &a.reports
	if rest := r.wait(now, a.cfg.ReportEvery); rest > 0 {
		return rest
	}
	news, due := !r.since.IsZero(), now.Sub(r.whole) >= reportWhole
	r.sent, r.since, r.hurry = now, time.Time{}, false
	switch {
	case news: // the first time sooner, as the agent does
		r.whole = now.Add(-rand.N(reportWhole / 2))
	case due:
		r.whole = now
	}
	heads, _ := a.disk.heads()
	all := a.disk.Servers
	shards := max(1, (len(all)+message.MaxServersPerShard-1)/message.MaxServersPerShard)
	for len(r.first) < shards {
		r.first = append(r.first, 0)
	}
	for i := range shards {
		r.seq++
		m := message.Report{
			Agent: a.name, Rack: a.rack, Incarnation: a.disk.Incarnation, Session: a.session.id, Seq: r.seq, At: now, Version: version,
			Applied: heads, Shard: i, Shards: shards, Nonce: a.session.own, Fence: a.disk.Fence,
		}
		of := all[i*message.MaxServersPerShard : min(len(all), (i+1)*message.MaxServersPerShard)]
		if news || due || !r.known(i) {
			if news || r.first[i] == 0 {
				r.first[i] = r.seq
			}
			for _, s := range of {
				m.Servers = append(m.Servers, s.report(now))
			}
		} else {
			m.As = r.first[i]
			for range of {
				m.Reads = append(m.Reads, message.Read{Age: readTakes, Took: readTakes})
			}
		}
		if a.publish(message.LeafReport, m) {
			a.shared.counts.reports.Add(1)
		}
	}
	return r.wait(now, a.cfg.ReportEvery)
}

// known reports whether the hub has all of a shard.
func (r *reports) known(shard int) bool {
	return r.first[shard] > 0 && shard < len(r.had) && r.had[shard] >= r.first[shard]
}

// version is what the agents say of themselves.
const version = "rackboot-sim fleet"
