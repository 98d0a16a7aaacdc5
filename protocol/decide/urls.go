package decide

import (
	"cmp"

	"rackboot/protocol/resource"
)

// urls clears the URL that a BMC was given for one attempt.
type urls struct {
	d    *draft
	away bool // the BMC cannot be asked
}

func urlsOf(d *draft, s *Snapshot) urls {
	return urls{d, s.BMCError != nil}
}

// due says whether a URL is to be cleared.
func (us urls) due() bool {
	if !us.d.rec.Residue.has(LeftURL) {
		return false
	}
	a, has := us.d.rec.Attempt, armedNone
	if a != nil {
		has = armedOf(us.d.rec.Attempt, us.d.watch.Last, us.d.now)
	}
	return urlRule(urlBootOf(a), runningOf(us.d.watch.Last.Power), has)
}

// clear clears what is due. While a hold has no receipt, the time between two reads is
// the proof's.
func (us urls) clear() {
	if !us.due() || us.away || len(us.d.holds) > 0 && us.d.rec.unproved(us.d.holds) {
		return
	}
	if us.d.now.Before(us.d.watch.URL.Next) {
		us.d.recheckAt(us.d.watch.URL.Next)
		return
	}
	us.d.act(Action{Kind: ActClearURL, Attempt: us.d.rec.Residue.URL().Attempt})
	us.d.recheck(activeInterval)
}

// clearFirst is clear ahead of a power-on, and says whether that has to wait.
func (us urls) clearFirst() bool {
	if !us.due() || us.d.watch.URL.stays() {
		return false
	}
	us.clear()
	return true
}

func (us urls) cleared(r Result) {
	u := us.d.rec.Residue.URL()
	if u == nil || u.Attempt != r.Attempt {
		return
	}
	w := &us.d.watch.URL
	switch {
	case r.Code == "" && r.Pending:
		*w = URLWatch{Pending: true, Next: us.d.now.Add(urlMax)}
		return
	case r.Code == "":
		us.d.rec.Residue.drop(LeftURL)
		us.d.watch.URL, us.d.dirty = URLWatch{}, true
		us.d.happened(resource.EventBootURLCleared, "")
		return
	}
	w.Pending = false
	w.Why = r.Message
	w.Next = us.d.now.Add(pauseOf(min(attemptBackoff<<min(w.Tries, 10), urlMax), r))
	w.Tries++
}

// begin notes the URL that the BMC is given for an attempt, once.
func (us urls) begin(a *Attempt) {
	if u := us.d.rec.Residue.URL(); a.ByURL() && (u == nil || u.Attempt != a.ID) {
		us.d.rec.Residue.put(Left{Kind: LeftURL, URL: &BootURL{Attempt: a.ID, Token: cmp.Or(a.Private, a.Token)}})
		us.d.watch.URL, us.d.dirty = URLWatch{}, true
	}
}
