package agent

import (
	"context"
	"maps"
	"math/rand/v2"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// helloPause is how long an unanswered Hello waits before it is sent again; it
// doubles up to helloPauseMax, each ± 50 %, so that agents do not come in step.
const (
	helloPause    = 2 * time.Second
	helloPauseMax = 30 * time.Second
)

// Subscriptions are the topics that an agent listens to.
func Subscriptions(agent string) []string {
	return []string{protocol.TopicDown(agent, "#"), protocol.TopicAnnounce}
}

// Connected begins a session on a new connection.
func (a *Agent) Connected(t Transport) {
	a.sessionMu.Lock()
	a.transport, a.session = t, a.random()
	a.synced = false
	a.sessionMu.Unlock()
	select {
	case a.connected <- struct{}{}:
	default:
	}
	a.report.poke()
}

// sessions says Hello on each new session until it is answered.
func (a *Agent) sessions(ctx context.Context) error {
	pause := helloPause
	timer := time.NewTimer(helloPauseMax)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.connected:
			pause = helloPause
		case <-timer.C:
		}
		if session, waiting := a.unanswered(); waiting {
			a.hello(session)
			timer.Reset(pause/2 + time.Duration(rand.Int64N(int64(pause))))
			pause = min(pause*2, helloPauseMax)
		}
	}
}

// unanswered is the session whose Hello was not answered yet.
func (a *Agent) unanswered() (session string, waiting bool) {
	a.sessionMu.Lock()
	defer a.sessionMu.Unlock()
	return a.session, a.session != "" && !a.synced
}

func (a *Agent) hello(session string) {
	heads, term, err := a.store.Applied()
	if err != nil {
		a.log.Error("cannot read what is applied", "err", err)
		return
	}
	_, eventHead, err := a.store.Events(0)
	if err != nil {
		a.log.Error("cannot read the events", "err", err)
		return
	}
	a.publish(protocol.LeafHello, protocol.Hello{
		Agent: a.cfg.Agent, Session: session, Incarnation: a.store.Incarnation(), Term: term,
		Protocol: protocol.Version, Version: a.cfg.Version, Applied: heads, EventHead: eventHead, At: a.cfg.Clock(),
	})
}

// publish signs and sends. What is lost is sent again: documents by the hub,
// reports and events by the reporter.
func (a *Agent) publish(leaf string, msg any) {
	a.sessionMu.Lock()
	t := a.transport
	a.sessionMu.Unlock()
	if t == nil {
		return
	}
	topic := protocol.TopicUp(a.cfg.Agent, leaf)
	data, err := wire.Seal(a.cfg.Signer, topic, msg)
	if err != nil {
		a.log.Error("cannot seal", "topic", leaf, "err", err)
		return
	}
	if err := t.Publish(topic, data); err != nil {
		a.log.Debug("not sent", "topic", leaf, "err", err)
	}
}

// sync takes the hub's answer to a Hello or to events. Only an answer to this very
// session lets the agent serve or forget events: one of an earlier session may be
// late, or be played back by somebody. A refusal is heeded whatever session it
// names, because starting nothing is always safe.
func (a *Agent) sync(s protocol.Sync) {
	a.sessionMu.Lock()
	mine := s.Session != "" && s.Session == a.session
	if mine {
		a.synced = true
	}
	a.sessionMu.Unlock()
	if s.Refused != "" {
		if a.setReplaced(s.Refused == protocol.CondAgentReplaced) {
			a.log.Error("refused by the hub", "code", s.Refused)
		}
		a.report.raise(s.Refused, "the hub refuses this agent")
		return
	}
	if !mine {
		return
	}
	a.setReplaced(false)
	a.report.clear(protocol.CondAgentReplaced)
	if s.Heads != nil {
		// The answer to a Hello: what this agent refused and still lacks comes again.
		delete(a.troubles, protocol.CondDocumentRefused)
		a.report.clear(protocol.CondDocumentRefused)
		a.newest = maps.Clone(s.Heads)
	}
	if err := a.store.Acknowledge(s.EventsAcked); err != nil {
		a.log.Error("cannot forget events", "err", err)
	}
	a.report.poke()
}

// setReplaced takes over whether another agent serves the rack.
func (a *Agent) setReplaced(replaced bool) (changed bool) {
	changed, err := a.store.SetReplaced(replaced)
	if err == nil && changed {
		err = a.reindex()
		a.lookAtAll()
	}
	if err != nil {
		a.log.Error("cannot record whether this agent was replaced", "err", err)
	}
	return changed
}
