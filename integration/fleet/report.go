package fleet

import (
	"math/rand/v2"
	"reflect"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
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
	had   []uint64        // by shard, the report after which the hub says it has all
	told  map[string]told // by server
	grown map[int]uint64  // by shard, the report that told first of the server that came last
	whole time.Time       // from when reportWhole counts
}

// told is what was said of a server last, and by which report first.
type told struct {
	says     resource.ServerReport // without when it was read
	revision uint64
}

// tells notes what a report says of the servers of a shard, and returns which of them have changed since the one that
// the hub has. some is false where that is none, or all have to be told.
func (r *reports) tells(shard int, of []resource.ServerReport, seq uint64) (changed []int, some bool) {
	had := uint64(0)
	if shard < len(r.had) {
		had = r.had[shard]
	}
	if r.told == nil {
		r.told, r.grown = map[string]told{}, map[int]uint64{}
	}
	for i, s := range of {
		s = still(s)
		last, known := r.told[s.Server]
		if !known {
			r.grown[shard] = seq
		}
		if !known || !reflect.DeepEqual(last.says, s) {
			last = told{s, seq}
			r.told[s.Server] = last
		}
		if last.revision > had {
			changed = append(changed, i)
		}
	}
	return changed, had > 0 && had >= r.grown[shard] && 2*len(changed) <= len(of)
}

// still is what a report says of a server but for when it was read, and goes on saying when the server changes.
func still(s resource.ServerReport) resource.ServerReport {
	s.ReadAge, s.Observation.ReadAt, s.Observation.StartedAt = 0, time.Time{}, time.Time{}
	s.StoppedSince, s.LastPoweredOn, s.Attempt = copied(s.StoppedSince), copied(s.LastPoweredOn), copied(s.Attempt)
	return s
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// digest is that of a shard.
func (r *reports) digest(of []resource.ServerReport) []byte {
	return message.ShardDigest(func(yield func(string, uint64) bool) {
		for _, s := range of {
			if !yield(s.Server, r.told[s.Server].revision) {
				return
			}
		}
	})
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
	for i := range shards {
		r.seq++
		m := message.Report{
			Agent: a.name, Rack: a.rack, Incarnation: a.disk.Incarnation, Session: a.session.id, Seq: r.seq, At: now, Version: version,
			Applied: heads, Shard: i, Shards: shards, Nonce: a.session.own, Fence: a.disk.Fence,
		}
		var of []resource.ServerReport
		for _, s := range all[i*message.MaxServersPerShard : min(len(all), (i+1)*message.MaxServersPerShard)] {
			r := s.report(now)
			if a.silent(s) {
				silence(&r)
			}
			of = append(of, r)
		}
		changed, some := r.tells(i, of, r.seq)
		m.Servers = of
		if some && !due {
			m.As, m.Digest, m.Servers = r.had[i], r.digest(of), nil
			for _, n := range changed {
				m.Servers = append(m.Servers, of[n])
			}
			for _, s := range of {
				m.Reads = append(m.Reads, message.Read{Age: s.ReadAge, Took: s.ReadTook()})
			}
		}
		for _, s := range m.Servers {
			m.Revisions = append(m.Revisions, r.told[s.Server].revision)
		}
		if a.publish(message.LeafReport, m) {
			a.shared.counts.reports.Add(1)
		}
	}
	return r.wait(now, a.cfg.ReportEvery)
}

// version is what the agents say of themselves.
const version = "rackboot-sim fleet"
