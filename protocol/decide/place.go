package decide

import "time"

// PlaceNeed is what a server needs of the line in which the servers of a rack with an inrush limit are switched on.
type PlaceNeed string

// The needs.
const (
	PlaceNone  PlaceNeed = "none"  // nothing is switched on, or the server was seen to run
	PlaceBegin PlaceNeed = "begin" // a place, before anything is armed
	PlaceKeep  PlaceNeed = "keep"  // the place that it has, if it has one: its On comes yet
	PlaceSend  PlaceNeed = "send"  // a place for its On: its override is armed already
)

// Place is where a server stands in that line. The zero Place is that of a rack without a limit.
type Place struct {
	Limited bool
	Has     bool
	// Until is when a server that waits is about to have its place; zero where it did not ask yet.
	Until time.Time
}

// LineWatch is how long a server has waited for its place, and until when it is about to.
type LineWatch struct {
	Since time.Time // zero where it does not wait
	Until time.Time
}
