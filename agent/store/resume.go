package store

import (
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// maxAsked bounds the resumes of one server that were asked for at the agent and have
// not ended. One serves all that wait.
const maxAsked = 4

// Resume notes that somebody at the agent resumes a server: when it returns, that is
// on disk, and the server's next step takes it up. The codes are not_found for a server
// that the agent has not heard of, conflict for an agent that was replaced and for too
// many, and unavailable.
func (l *Local) Resume(now time.Time, r resource.Request) error {
	op := "resume " + r.Server
	l.disk.crash.At("agent.local.resume")
	err := l.disk.update(func(t state.Txn) error {
		_, known, err := get[Intent](t, keyIntents+r.Server)
		if err != nil {
			return err
		}
		replaced, _, err := get[bool](t, keyReplaced)
		if err != nil {
			return err
		}
		have, err := scan[resource.Request](t, keyAsked+r.Server+"/")
		switch {
		case err != nil:
			return err
		case !known:
			return protocol.Errorf(protocol.CodeNotFound, op, "this agent has not heard of server %q", r.Server).
				WithHint("rackboot-agent servers lists those that it knows")
		case replaced:
			return protocol.Errorf(protocol.CodeConflict, op, "another agent serves the rack").WithHint("resume it at that one, or at the hub")
		case len(have) >= maxAsked:
			return protocol.Errorf(protocol.CodeConflict, op, "%d resumes of it have not ended", len(have)).
				WithHint("rackboot-agent explain %s says what they wait for", r.Server)
		}
		if err := put(t, keyAsked+r.Server+"/"+r.ID, r); err != nil {
			return err
		}
		return l.events.append(t, resource.Event{
			At: now, Server: r.Server, Code: resource.EventResumed, Message: fmt.Sprintf("%s asks at the agent to resume it: %s", r.By, r.Why),
		})
	})
	if err != nil {
		return failing(op, err)
	}
	l.disk.crash.At("agent.local.resumed")
	return nil
}

// forgetAsked deletes what has ended, in the transaction that says so.
func forgetAsked(t state.Txn, v View) error {
	for _, r := range v.Asked {
		if !slices.ContainsFunc(v.Record.Requests, func(s decide.RequestState) bool {
			return s.ID == r.ID && s.Outcome != resource.OutcomePending
		}) {
			continue
		}
		if err := t.Delete(keyAsked + r.Server + "/" + r.ID); err != nil {
			return err
		}
	}
	return nil
}
