package decide

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

const (
	// keepEnded is how many ended requests of a server are remembered after the hub
	// ceased to send them, and endedFor for how long.
	keepEnded = 16
	endedFor  = 24 * time.Hour
)

// EndedRequest is how a request ended that the hub does not send any more. A hub that was
// set back to an old copy of its disk sends it again: what was done is not called expired
// then, and is not done twice.
type EndedRequest struct {
	ID      string           `json:"id"`
	Outcome resource.Outcome `json:"outcome"`
	At      time.Time        `json:"at"` // by the agent's clock
	Reason  string           `json:"reason,omitempty"`
}

// remember moves the ended requests that were not sent out of the list, into that of what
// is remembered.
func (p *step) remember(sent map[string]bool) {
	gone := func(s RequestState) bool { return s.Outcome != resource.OutcomePending && !sent[s.ID] }
	if !slices.ContainsFunc(p.rec.Requests, gone) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(p.rec.Ended), func(e EndedRequest) bool { return p.now.Sub(e.At) > endedFor })
	for _, s := range p.rec.Requests {
		if gone(s) && !s.Local {
			kept = append(kept, EndedRequest{ID: s.ID, Outcome: s.Outcome, At: s.EndedAt, Reason: s.Reason})
		}
	}
	p.rec.Ended = kept[max(0, len(kept)-keepEnded):]
	p.rec.Requests = slices.DeleteFunc(p.rec.Requests, gone)
	p.dirty = true
}

// recall takes a request that is sent again for what became of it, and reports whether it
// is remembered.
func (p *step) recall(r resource.Request) bool {
	i := slices.IndexFunc(p.rec.Ended, func(e EndedRequest) bool { return e.ID == r.ID })
	if i < 0 {
		return false
	}
	e := p.rec.Ended[i]
	p.rec.Requests = append(p.rec.Requests, RequestState{Request: r, AcceptedAt: e.At, Outcome: e.Outcome, EndedAt: e.At, Reason: e.Reason})
	p.rec.Ended = slices.Delete(slices.Clone(p.rec.Ended), i, i+1)
	p.dirty = true
	return true
}
