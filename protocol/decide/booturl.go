package decide

import (
	"time"

	"rackboot/protocol/resource"
)

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
	case a.Stage.State == resource.AttemptFetched, a.Stage.State == resource.AttemptSucceeded, a.Stage.Evidence != "":
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

const (
	// urlTries is how often it is tried in vain before another boot or the end of a claim
	// goes on without: the token opens nothing any more.
	urlTries = 5
	urlMax   = 10 * time.Minute
)

// stays says whether nothing waits for a URL any more.
func (w URLWatch) stays() bool { return w.Tries >= urlTries || w.Pending }
