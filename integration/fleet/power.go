package fleet

import (
	"context"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// task is something that happens to an agent, and is done by its goroutine.
type task func(ctx context.Context, now time.Time) error

// do has an agent do a task; not one that has ended.
func (a *agent) do(t task) {
	select {
	case a.tasks <- t:
	case <-a.gone:
	}
}

// fall is the loss of power: the agent is gone at once, with what it had in memory, and nobody is told. It has its
// disk.
func (a *agent) fall() {
	a.progress.dark.Store(true)
	a.progress.session.Store(0)
	a.cables.fall()
	a.do(func(context.Context, time.Time) error {
		err := a.disconnect()
		a.session, a.reports = session{}, reports{}
		a.disk.Events.sentTo = ""
		clear(a.heads)
		a.count()
		return err
	})
}

// rise is the return of power. The servers in off stay off, and what was under way at servers is over; the others
// come back as they were, as BMCs do that are told so. The agent connects after the delay.
func (a *agent) rise(off map[string]bool, delay time.Duration) {
	a.progress.dark.Store(false)
	a.do(func(ctx context.Context, now time.Time) error {
		t := turn{now: now, agent: a}
		for _, s := range a.disk.Servers {
			t.restore(s, off[s.Name])
		}
		a.cables.rise()
		err := a.connect(ctx, delay)
		a.count()
		return err
	})
}

// restore is what power has made of a server.
func (t *turn) restore(s *server, off bool) {
	under := s.Doing
	s.Doing, s.Due = doingNothing, time.Time{}
	if under != doingNothing && under != doingStop {
		t.failed(s, resource.AttemptInterrupted)
	}
	switch {
	case !s.on() && under != doingStop:
	case off || under != doingNothing:
		s.Power, s.Since = protocol.PowerOff, t.now
		t.event(s, resource.EventStopped, "")
		t.settle(s)
	default:
		s.Restarts++
		t.event(s, resource.EventPowerSeen, "restarted")
	}
}

func (s *server) on() bool { return s.Power == protocol.PowerOn }
