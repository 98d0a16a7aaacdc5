package heartbeat

import (
	"time"

	"rackboot/protocol/message"
)

// echoWindow is how many beats ago an own beat may be that a new one of the other agent names.
const echoWindow = uint64(message.BeatSilent / message.BeatEvery)

// beatIs is what a beat is to the run that is heard on a line.
type beatIs string

const (
	beatSame    beatIs = "same"    // of the run, and later than its last
	beatEarlier beatIs = "earlier" // of the run, and not later
	beatOther   beatIs = "other"   // of another run, or the first
)

// beatDo is what is done with it.
type beatDo string

const (
	beatCount beatDo = "count" // the other one is heard
	beatEcho  beatDo = "echo"  // it is named in the next own beat, so that its sender can prove to be there
	beatDrop  beatDo = "drop"
)

// beatRule says what a beat is worth that the other agent has signed. The first row that fits decides.
//
//	beat    | echo | heard | then
//	earlier | *    | *     | drop
//	*       | yes  | *     | count
//	same    | no   | *     | echo
//	other   | no   | yes   | drop
//	other   | no   | no    | echo
//
// echo is that it names an own beat of a moment ago: one that somebody plays back does not, whenever it was
// recorded. While a run is heard, another one does not displace it without.
func beatRule(b beatIs, echo, heard bool) beatDo {
	switch {
	case b == beatEarlier:
		return beatDrop
	case echo:
		return beatCount
	case b == beatSame, !heard:
		return beatEcho
	}
	return beatDrop
}

// ear is what is heard on one line.
type ear struct {
	run   string
	seq   uint64
	first time.Time // of beats without a gap; zero before any
	last  time.Time
}

// take takes a beat of the other agent. own and sent are this run and its last beat on the line.
func (e *ear) take(b message.Beat, own string, sent uint64, now time.Time) beatDo {
	is := beatOther
	if b.Run == e.run {
		if is = beatSame; b.Seq <= e.seq {
			is = beatEarlier
		}
	}
	echo := b.Echo == own && b.EchoSeq <= sent && sent-b.EchoSeq <= echoWindow
	do := beatRule(is, echo, e.heard(now))
	switch do {
	case beatCount:
		if !e.heard(now) {
			e.first = now
		}
		e.run, e.seq, e.last = b.Run, b.Seq, now
	case beatEcho:
		e.run, e.seq = b.Run, b.Seq
	case beatDrop:
	}
	return do
}

// heard says whether the other one is heard now.
func (e *ear) heard(now time.Time) bool {
	return !e.last.IsZero() && now.Sub(e.last) <= message.BeatGap
}

// report is what the hub is told of the line; false before anything was heard.
func (e *ear) report(segment string, now time.Time) (message.HeardBeat, bool) {
	return message.HeardBeat{Segment: segment, For: e.last.Sub(e.first), Ago: max(0, now.Sub(e.last))}, !e.last.IsZero()
}
