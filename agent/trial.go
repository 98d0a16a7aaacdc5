package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// trialSteps is how often in a window the time of a trial is written. So much of it
// also counts as gone with each start of the agent, so that one that is started again
// and again comes to an end with it.
const trialSteps = 12

// trial follows segments that a document changed until the hub is heard after it, or
// they are rolled back. It counts time in which the agent ran, by its monotonic clock;
// neither a wall clock that is set nor a stop of the agent lengthens or ends a trial.
// It is safe for concurrent use.
type trial struct {
	agent  *Agent
	window time.Duration
	wake   chan struct{}

	mu    sync.Mutex
	tried string // what is on trial; empty is none
	since time.Time
	ran   time.Duration // and is not written yet
	stale bool          // what was rolled back is still served
}

func newTrial(a *Agent) *trial {
	t := &trial{agent: a, window: a.cfg.TrialWindow, wake: make(chan struct{}, 1)}
	if t.window == 0 {
		t.window = decide.TrialWindow
	}
	return t
}

func (t *trial) step() time.Duration { return t.window / trialSteps }

// resume goes on with what the disk says, before anything is served.
func (t *trial) resume() error {
	have, err := t.agent.store.Segments()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tried, t.since, t.ran = have.Tried, t.agent.cfg.Clock(), t.step()
	t.tell(have)
	if t.tried == "" {
		return nil
	}
	_, err = t.look(false)
	return err
}

// offered takes over what a document made of the segments. begun says that they are
// on trial since.
func (t *trial) offered() (begun bool, err error) {
	have, err := t.agent.store.Segments()
	if err != nil {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(have)
	if have.Tried == t.tried {
		return false, nil
	}
	t.tried, t.since, t.ran = have.Tried, t.agent.cfg.Clock(), 0
	wake(t.wake)
	if t.tried == "" {
		return false, nil
	}
	t.agent.log.Info("changed segments are tried", "segments", strings.Join(have.Differ, " "), "window", t.window)
	return true, nil
}

// heard takes over that the hub was, in a session that began after the last change.
func (t *trial) heard() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tried == "" {
		return
	}
	if _, err := t.look(true); err != nil {
		t.agent.log.Error("cannot end the trial of changed segments", "err", err)
		return
	}
	wake(t.wake)
}

// look decides, with t.mu held, and returns when to look again; zero is not.
func (t *trial) look(heard bool) (next time.Duration, err error) {
	a, now := t.agent, t.agent.cfg.Clock()
	// A process that was stopped for long did not listen for the hub meanwhile.
	t.ran += min(max(0, now.Sub(t.since)), 2*t.step())
	t.since = now
	act, after, left, err := a.store.LookAtSegments(now, t.ran, t.window, heard)
	if err != nil {
		_ = a.reports.StoreTrouble(err) // the caller says it
		return t.step(), err
	}
	t.tried, t.ran = after.Tried, 0
	t.tell(after)
	switch act {
	case decide.SegmentsConfirm:
		a.log.Info("changed segments are confirmed")
	case decide.SegmentsBack:
		a.log.Error("changed segments are rolled back", "segments", strings.Join(after.Differ, " "))
		t.stale = true
		return 0, t.serve()
	case decide.SegmentsWait:
		return min(left, t.step()), nil
	case decide.SegmentsServe, decide.SegmentsTry, decide.SegmentsRefuse, decide.SegmentsLeave:
	}
	return 0, nil
}

// serve has the boot servers take over what was rolled back.
func (t *trial) serve() error {
	err := t.agent.reindex()
	t.stale = err != nil
	return err
}

// tell raises and clears the conditions. One of them is raised while the other ends,
// so that no report lies between.
func (t *trial) tell(now store.Segments) {
	names, r := strings.Join(now.Differ, ", "), t.agent.reports
	if now.Tried != "" {
		r.Raise(resource.CondSegmentOnTrial, names)
	}
	if now.Refused != "" {
		r.Raise(resource.CondSegmentRolledBack, fmt.Sprintf("%s: as before, because the hub was not heard for %s after the change", names, t.window))
	} else {
		r.Clear(resource.CondSegmentRolledBack)
	}
	if now.Tried == "" {
		r.Clear(resource.CondSegmentOnTrial)
	}
}

// run looks at a trial while there is one.
func (t *trial) run(ctx context.Context) {
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
func (t *trial) due() time.Duration {
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
		t.agent.log.Error("cannot follow the trial of changed segments", "err", err)
		return t.step()
	}
	return next
}
