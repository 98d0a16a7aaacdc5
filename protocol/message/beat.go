package message

import "time"

// Beat says that an agent lives, to the other agent of its rack on a segment that both have. It is sealed for
// a fact of its own and sent by UDP, each second.
type Beat struct {
	Rack    string `json:"rack"`
	Agent   string `json:"agent"`
	Segment string `json:"segment"`
	Run     string `json:"run"` // random, of the process
	Seq     uint64 `json:"seq"` // within the run
	// Echo and EchoSeq are of the last beat of the other one; empty before there was any. Who finds its own of a
	// moment ago in it knows that the beat is new, and that it is heard.
	Echo    string `json:"echo,omitempty"`
	EchoSeq uint64 `json:"echoSeq,omitempty"`
}

// TwinIntent is the other agent of a rack: that which stands by, or for which it does.
type TwinIntent struct {
	Agent string `json:"agent"`
	Key   []byte `json:"key"` // Ed25519
}

// HeardBeat is how an agent hears its twin on a segment.
type HeardBeat struct {
	Segment string        `json:"segment"`
	For     time.Duration `json:"for"`           // from the first beat without a gap to the last
	Ago     time.Duration `json:"ago,omitempty"` // since the last
}

// Of heartbeats.
const (
	BeatEvery = time.Second
	// BeatGap is after how long without a beat the twin is heard anew.
	BeatGap = 5 * time.Second
	// BeatLong is for how long a twin must have been heard for its silence to say something, and BeatSilent how long
	// that silence must last.
	BeatLong   = time.Minute
	BeatSilent = 10 * time.Second
)
