package trial

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// trialSteps is how often in a window the time of a trial is written. So much of it
// also counts as gone with each start of the agent, so that one that is started again
// and again comes to an end with it.
const trialSteps = 12

// Config is what the room is made of.
type Config struct {
	Store   *store.Trials
	Reports *reports.Room
	Index   Index
	// Window is how long changed segments are tried without the hub; 0 is
	// decide.TrialWindow.
	Window time.Duration
	Clock  state.Clock
	Logger *slog.Logger
}

// Index is what boots are served by.
type Index interface {
	// Changed reads anew what may be served.
	Changed() error
}

// Room follows segments that a document changed until the hub is heard after it, or
// they are rolled back. It counts time in which the agent ran, by its monotonic clock;
// neither a wall clock that is set nor a stop of the agent lengthens or ends a trial.
// It is safe for concurrent use. Make it with New, then call Resume and Run once.
type Room struct {
	cfg  Config
	wake chan struct{}

	mu    sync.Mutex
	tried string // what is on trial; empty is none
	since time.Time
	ran   time.Duration // and is not written yet
	stale bool          // what was rolled back is still served
}

// New makes the room.
func New(cfg Config) *Room {
	if cfg.Window == 0 {
		cfg.Window = decide.TrialWindow
	}
	return &Room{cfg: cfg, wake: make(chan struct{}, 1)}
}

func (t *Room) step() time.Duration { return t.cfg.Window / trialSteps }

// Resume goes on with what the disk says, before anything is served.
func (t *Room) Resume() error {
	have, err := t.cfg.Store.Segments()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tried, t.since, t.ran = have.Tried, t.cfg.Clock(), t.step()
	t.tell(have)
	if t.tried == "" {
		return nil
	}
	_, err = t.look(false)
	return err
}

// Offered takes over what a document made of the segments. begun says that they are
// on trial since.
func (t *Room) Offered() (begun bool, err error) {
	have, err := t.cfg.Store.Segments()
	if err != nil {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(have)
	if have.Tried == t.tried {
		return false, nil
	}
	t.tried, t.since, t.ran = have.Tried, t.cfg.Clock(), 0
	t.signal()
	if t.tried == "" {
		return false, nil
	}
	t.cfg.Logger.Info("changed segments are tried", "segments", strings.Join(have.Differ, " "), "window", t.cfg.Window)
	return true, nil
}

// Heard takes over that the hub was, in a session that began after the last change.
func (t *Room) Heard() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tried == "" {
		return
	}
	if _, err := t.look(true); err != nil {
		t.cfg.Logger.Error("cannot end the trial of changed segments", "err", err)
		return
	}
	t.signal()
}

func (t *Room) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// look decides, with t.mu held, and returns when to look again; zero is not.
func (t *Room) look(heard bool) (next time.Duration, err error) {
	now := t.cfg.Clock()
	// A process that was stopped for long did not listen for the hub meanwhile.
	t.ran += min(max(0, now.Sub(t.since)), 2*t.step())
	t.since = now
	act, after, left, err := t.cfg.Store.Look(now, t.ran, t.cfg.Window, heard)
	if err != nil {
		_ = t.cfg.Reports.StoreTrouble(err) // the caller says it
		return t.step(), err
	}
	t.tried, t.ran = after.Tried, 0
	t.tell(after)
	switch act {
	case decide.SegmentsConfirm:
		t.cfg.Logger.Info("changed segments are confirmed")
	case decide.SegmentsBack:
		t.cfg.Logger.Error("changed segments are rolled back", "segments", strings.Join(after.Differ, " "))
		t.stale = true
		return 0, t.serve()
	case decide.SegmentsWait:
		return min(left, t.step()), nil
	case decide.SegmentsServe, decide.SegmentsTry, decide.SegmentsRefuse, decide.SegmentsLeave:
	}
	return 0, nil
}

// serve has the boot servers take over what was rolled back.
func (t *Room) serve() error {
	err := t.cfg.Index.Changed()
	t.stale = err != nil
	return err
}

// tell raises and clears the conditions. One of them is raised while the other ends,
// so that no report lies between.
func (t *Room) tell(now store.Segments) {
	names, r := strings.Join(now.Differ, ", "), t.cfg.Reports
	if now.Tried != "" {
		r.Raise(resource.CondSegmentOnTrial, names)
	}
	if now.Refused != "" {
		r.Raise(resource.CondSegmentRolledBack, fmt.Sprintf("%s: as before, because the hub was not heard for %s after the change", names, t.cfg.Window))
	} else {
		r.Clear(resource.CondSegmentRolledBack)
	}
	if now.Tried == "" {
		r.Clear(resource.CondSegmentOnTrial)
	}
}

// Run looks at a trial while there is one.
func (t *Room) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-t.wake:
		}
		if next := t.due(); next > 0 {
			timer.Reset(next)
		} else {
			timer.Stop()
		}
	}
}

// due looks if there is a trial.
func (t *Room) due() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next time.Duration
	var err error
	switch {
	case t.tried != "":
		next, err = t.look(false)
	case t.stale:
		err = t.serve()
	}
	if err != nil {
		t.cfg.Logger.Error("cannot follow the trial of changed segments", "err", err)
		return t.step()
	}
	return next
}
