package decide

import (
	"time"

	"rackboot/protocol/resource"
)

// BootURL is a URL that was given to a BMC for the firmware of one attempt (reach: uri).
// No firmware takes it away as it takes an override for once, and the attempt's token is in
// it: it is cleared when firmware has done with it.
type BootURL struct {
	Attempt string `json:"attempt"`
	Token   string `json:"token"` // of the attempt; never printed
}

// urlBoot is how far a server's boot is, as the URL in its BMC sees it.
type urlBoot string

const (
	urlAhead urlBoot = "ahead" // an attempt is under way, and firmware may have taken nothing yet
	urlTaken urlBoot = "taken" // what firmware was to boot it has
	urlEnded urlBoot = "ended" // there is no attempt, or it failed before that
)

func urlBootOf(a *Attempt) urlBoot {
	switch {
	case a == nil:
		return urlEnded
	case a.State == resource.AttemptFetched, a.State == resource.AttemptSucceeded, a.Evidence != "":
		return urlTaken
	case a.Open():
		return urlAhead
	}
	return urlEnded
}

// urlRule says whether a URL is cleared now. The first row that fits decides.
//
//	boot  | power | armed | clears
//	ahead | *     | *     | no
//	*     | other | *     | no
//	taken | *     | *     | yes
//	ended | off   | *     | yes
//	ended | on    | ours  | no
//	ended | on    | *     | yes
//
// An override and its URL are one order, and as long as firmware may take the override the
// URL stays (P6). Once it has fetched the last of its files it has no use for the URL, so that
// an attempt that goes well has none at its end, even if the server is never Off again.
func urlRule(b urlBoot, power running, has armed) bool {
	switch {
	case b == urlAhead, power == isOther:
		return false
	case b == urlTaken, power == isOff:
		return true
	}
	return has != armedOurs
}

// urlDue says whether a URL is to be cleared.
func (p *step) urlDue() bool {
	if p.rec.URL == nil {
		return false
	}
	a, has := p.rec.Attempt, armedNone
	if a != nil {
		has = p.armedOf()
	}
	return urlRule(urlBootOf(a), runningOf(p.watch.Last.Power), has)
}

// URLWatch is how often clearing a URL has failed in a row. Pending is that the BMC shows it
// until the next reset (AMI).
type URLWatch struct {
	Tries   int
	Next    time.Time
	Why     string
	Pending bool
}

const (
	// urlTries is how often it is tried in vain before another boot or the end of a claim
	// goes on without: the token opens nothing any more.
	urlTries = 5
	urlMax   = 10 * time.Minute
)

// clearURL clears what is due. While a hold has no receipt, the time between two reads is
// the proof's.
func (p *step) clearURL() {
	if !p.urlDue() || p.snap.BMCError != nil || len(p.snap.Holds) > 0 && p.unproved() {
		return
	}
	if p.now.Before(p.watch.URL.Next) {
		p.recheckAt(p.watch.URL.Next)
		return
	}
	p.act(Action{Kind: ActClearURL, Attempt: p.rec.URL.Attempt})
	p.recheck(activeInterval)
}

// clearURLFirst is clearURL ahead of a power-on, and says whether that has to wait.
func (p *step) clearURLFirst() bool {
	if !p.urlDue() || p.urlStays() {
		return false
	}
	p.clearURL()
	return true
}

// urlStays says whether nothing waits for a URL any more.
func (p *step) urlStays() bool { return p.watch.URL.Tries >= urlTries || p.watch.URL.Pending }

func (p *step) clearURLResult(r Result) {
	u := p.rec.URL
	if u == nil || u.Attempt != r.Attempt {
		return
	}
	w := &p.watch.URL
	switch {
	case r.Code == "" && r.Pending:
		*w = URLWatch{Pending: true, Next: p.now.Add(urlMax)}
		return
	case r.Code == "":
		p.rec.URL, p.watch.URL, p.dirty = nil, URLWatch{}, true
		p.happened(resource.EventBootURLCleared, "")
		return
	}
	w.Pending = false
	w.Why = r.Message
	w.Next = p.now.Add(pauseOf(min(attemptBackoff<<min(w.Tries, 10), urlMax), r))
	w.Tries++
}

func (p *step) deriveURL() {
	if w := p.watch.URL; p.rec.URL != nil && w.Tries > 0 {
		p.raise(resource.CondBootURLNotCleared, "%s", w.Why)
	}
}
