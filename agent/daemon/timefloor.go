package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

// timeFloor is the latest time that the agent believes to have passed: the hub's signed
// times, and from there on the time that this process has run. The wall clock never
// raises it, so that a clock which once was years ahead does no lasting harm. It is safe
// for concurrent use.
type timeFloor struct {
	path  string
	clock state.Clock
	crash state.Crasher

	mu      sync.Mutex
	at      time.Time // the floor at since
	since   time.Time // by the clock, with its monotonic reading
	written time.Time // what is on disk
}

// floorEvery is how far the floor may be ahead of what is on disk.
const floorEvery = 10 * time.Minute

func floorPath(dataDir string) string { return filepath.Join(dataDir, "identity", "time") }

// openFloor reads the floor; without a file there is none. One that cannot be read is
// an error: it would make ended things valid.
func openFloor(dataDir string, clock state.Clock, crash state.Crasher) (*timeFloor, error) {
	f := &timeFloor{path: floorPath(dataDir), clock: clock, crash: crash, since: clock()}
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = f.at.UnmarshalText(raw)
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read the agent's time", "%s: %w", f.path, err).
			WithHint("set the host's clock, make sure that it is right, and remove the file")
	}
	f.written = f.at
	return f, nil
}

// now is the floor; zero while no time was ever believed.
func (f *timeFloor) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nowLocked()
}

func (f *timeFloor) nowLocked() time.Time {
	if f.at.IsZero() {
		return f.at
	}
	return f.at.Add(max(0, f.clock().Sub(f.since)))
}

// raise takes a time of the hub's; one that is earlier, or zero, changes nothing.
func (f *timeFloor) raise(hub time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if hub.After(f.nowLocked()) {
		f.at, f.since = hub.Round(0), f.clock()
	}
}

// keep writes the floor if it is far enough ahead of what is on disk, or last says that
// the agent stops.
func (f *timeFloor) keep(last bool) error {
	f.mu.Lock()
	now, written := f.nowLocked(), f.written
	f.mu.Unlock()
	if now.IsZero() || !now.After(written) || !last && now.Sub(written) < floorEvery {
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
	f.written = now
	return nil
}
