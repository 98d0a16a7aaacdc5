package agent

import (
	"context"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// helloPause is how long an unanswered Hello waits before it is sent again; it
// doubles up to helloPauseMax.
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
	a.synced = make(chan struct{})
	a.sessionMu.Unlock()
	a.report.session()
}

// sessions says Hello on each new session until it is answered.
func (a *Agent) sessions(ctx context.Context) error {
	last, pause := "", helloPause
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		a.sessionMu.Lock()
		session, synced := a.session, a.synced
		a.sessionMu.Unlock()
		answered := false
		if synced != nil {
			select {
			case <-synced:
				answered = true
			default:
			}
		}
		if session != last {
			last, pause = session, helloPause
		}
		if session != "" && !answered {
			a.hello(session)
			pause = min(pause*2, helloPauseMax)
		}
		timer.Reset(min(pause, helloPause*4))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-a.report.newSession:
			pause = helloPause
		}
	}
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

// sync takes the hub's answer to a Hello.
func (a *Agent) sync(s protocol.Sync) {
	a.sessionMu.Lock()
	mine := s.Session == a.session
	if mine && a.synced != nil {
		select {
		case <-a.synced:
		default:
			close(a.synced)
		}
	}
	a.sessionMu.Unlock()
	a.setReplaced(s.Refused == protocol.CondAgentReplaced)
	if s.Refused != "" {
		a.report.raise(s.Refused, "the hub refuses this agent")
		a.log.Error("refused by the hub", "code", s.Refused)
		return
	}
	a.report.clear(protocol.CondAgentReplaced)
	if err := a.store.Acknowledge(s.EventsAcked); err != nil {
		a.log.Error("cannot forget events", "err", err)
	}
	if mine {
		a.report.all()
	}
}

// setReplaced takes over whether another agent serves the rack.
func (a *Agent) setReplaced(replaced bool) {
	changed, err := a.store.SetReplaced(replaced)
	if err == nil && changed {
		err = a.reindex()
		for _, s := range a.all() {
			s.poke()
		}
	}
	if err != nil {
		a.log.Error("cannot record whether this agent was replaced", "err", err)
	}
}
