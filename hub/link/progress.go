package link

import (
	"time"

	"rackboot/hub/reports"
)

// stage is how far the hub may act towards an agent in this run. Before Ready it
// makes no version of its documents: it may have been restored from a copy, and its
// versions would overtake the lost hub's, whose holds they do not have.
type stage string

const (
	stageSilent   stage = "silent"   // no fresh Hello since the hub started
	stageAdopting stage = "adopting" // greeted and not in step: its reports come first
	stageReady    stage = "ready"
	stageBehind   stage = "behind" // it has documents that this hub never made
)

var stages = []stage{stageSilent, stageAdopting, stageReady, stageBehind}

// adoptWait bounds the wait for the reports of all shards, which come every 15 s. A
// hold that was not adopted in time is reported as missing and adopted then.
const adoptWait = time.Minute

// progress is how far the hub may act towards an agent.
type progress struct {
	stage    stage
	why      string    // of stageBehind
	byHello  bool      // of stageBehind: a report, which has no digests, cannot end it
	greeting string    // the session of stageAdopting
	heard    []bool    // its shards that reported
	since    time.Time // of the stage
}

// judge moves the stage along after a Hello, or another message that counts.
func (p *progress) judge(behind string, known, hello bool, session string, now time.Time) {
	switch {
	case behind != "":
		p.to(stageBehind, now)
		p.why, p.byHello = behind, hello
	case p.stage == stageBehind && p.byHello && !hello:
	case p.stage == stageReady:
	case known:
		p.to(stageReady, now)
	case p.stage != stageAdopting || p.greeting != session:
		p.to(stageAdopting, now)
		p.greeting, p.heard = session, nil
	}
}

func (p *progress) to(s stage, now time.Time) {
	if p.stage != s {
		p.stage, p.since, p.why = s, now, ""
	}
}

// reported notes that a shard's report was taken over.
func (p *progress) reported(session string, shard, shards int, now time.Time) {
	if p.stage != stageAdopting || session != p.greeting || shard < 0 || shard >= reports.MaxShards || shards > reports.MaxShards {
		return
	}
	for len(p.heard) < max(1, shards, shard+1) {
		p.heard = append(p.heard, false)
	}
	p.heard[shard] = true
	for _, h := range p.heard {
		if !h {
			return
		}
	}
	p.to(stageReady, now)
}
