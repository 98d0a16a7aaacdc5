package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state"
)

// timeFloor keeps what the agent knows of the time; [decide.Clocks] says what to make of it.
// The floor on disk is the latest time that the host's clock and the hub's signed words agreed
// to have passed, for minutes. It is safe for concurrent use.
type timeFloor struct {
	path  string
	clock state.Clock
	built time.Time
	ran   func() time.Duration // since the process began, whatever is done to the clock
	crash state.Crasher

	mu       sync.Mutex
	floor    since
	expected since // both clocks, when they agreed
	hub      since // its last word that is fresh
	run      agreement
	written  time.Time // what is on disk
	lowered  bool      // the floor fell, and is to be written
	damaged  error     // what was on disk could not be read
}

// since is a time at a moment of the process's run; a zero time is unknown.
type since struct {
	at  time.Time
	ran time.Duration
}

func (s since) now(ran time.Duration) time.Time {
	if s.at.IsZero() {
		return s.at
	}
	return s.at.Add(max(0, ran-s.ran))
}

// agreement is a row of words of the hub that keep the same distance from the host's clock.
type agreement struct {
	apart time.Duration // the host's clock less the hub's
	began time.Duration // of the process's run
	words int
	last  uint64 // the number of the last word
}

const (
	// floorEvery is how far the floor may be ahead of what is on disk.
	floorEvery = 10 * time.Minute
	// A row of steadyWords over steadyFor is steady.
	steadyWords = 3
	steadyFor   = 3 * time.Minute
)

func floorPath(dataDir string) string { return filepath.Join(dataDir, "identity", "time") }

// openFloor reads the floor. A file that is absent, empty or damaged is no floor: the other
// sources of the time remain, and damage is said.
func openFloor(dataDir string, clock state.Clock, built time.Time, crash state.Crasher) *timeFloor {
	began := clock()
	f := &timeFloor{path: floorPath(dataDir), clock: clock, built: built, crash: crash, ran: func() time.Duration { return clock().Sub(began) }}
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	if err == nil {
		err = f.floor.at.UnmarshalText(raw)
	}
	if err != nil {
		f.floor.at = time.Time{}
		f.damaged = protocol.Errorf(protocol.CodeInvalid, "read the agent's time", "%s: %w", f.path, err).
			WithHint("see that the host's clock is right; the file is written anew within minutes of the hub's next words")
		return f
	}
	f.written = f.floor.at
	return f
}

// damage is why what was on disk could not be read, as long as nothing took its place.
func (f *timeFloor) damage() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.damaged
}

// now is what to make of the clocks at this moment. begin is the start of the agent's
// certificate.
func (f *timeFloor) now(begin time.Time) decide.ClockPlan {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.planLocked(begin)
}

func (f *timeFloor) planLocked(begin time.Time) decide.ClockPlan {
	own, ran := f.clock(), f.ran()
	return decide.Clocks(decide.ClockSnapshot{
		Own: own.Round(0), Built: f.built, Begin: begin, Floor: f.floor.now(ran), Expected: f.expected.now(ran), Hub: f.hub.now(ran),
		Steady: f.run.words >= steadyWords && ran-f.run.began >= steadyFor,
	})
}

// look takes the hub's time, zero if it is not known, and the number of its last word, and
// moves the floor.
func (f *timeFloor) look(begin, hub time.Time, words uint64) decide.ClockPlan {
	f.mu.Lock()
	defer f.mu.Unlock()
	ran := f.ran()
	f.hub = since{hub.Round(0), ran}
	apart := f.clock().Round(0).Sub(f.hub.at)
	switch {
	case hub.IsZero():
		f.run = agreement{last: words}
	case f.run.words == 0 || (apart-f.run.apart).Abs() > decide.ClockSlack:
		f.run = agreement{apart: apart, began: ran, words: 1, last: words}
	case words != f.run.last:
		f.run.words, f.run.last = f.run.words+1, words
	}
	p := f.planLocked(begin)
	if !p.Floor.Equal(f.floor.now(ran)) {
		f.floor, f.lowered = since{p.Floor, ran}, f.lowered || p.Lowered
	}
	if p.Agreed {
		f.expected = since{f.clock().Round(0), ran}
	}
	return p
}

// keep writes the floor if it fell, is far enough ahead of what is on disk, or last says that
// the agent stops.
func (f *timeFloor) keep(last bool) error {
	f.mu.Lock()
	now, written, lowered := f.floor.now(f.ran()), f.written, f.lowered
	f.mu.Unlock()
	if now.IsZero() || !lowered && (!now.After(written) || !last && now.Sub(written) < floorEvery) {
		return nil
	}
	text, err := now.UTC().MarshalText()
	if err != nil {
		return err
	}
	if err := replaceFile(f.path, text, "agent.time", f.crash); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written, f.lowered, f.damaged = now, false, nil
	return nil
}
