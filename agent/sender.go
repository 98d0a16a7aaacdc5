package agent

import (
	"time"

	"rackboot/agent/reports"
	"rackboot/protocol/message"
)

// sender implements reports.Sender. It is used by the reports' goroutine only.
type sender struct {
	agent   *Agent
	backlog backlog
}

// Report implements reports.Sender.
func (s *sender) Report(all []message.Report) error {
	in, err := s.agent.store.Applied()
	if err != nil {
		s.agent.log.Error("cannot read what is applied", "err", err)
		return err
	}
	session, nonce := s.agent.session.names()
	for _, m := range all {
		m.Incarnation, m.Applied, m.Fence, m.Session, m.Nonce = in.Incarnation, in.Heads, in.Fence, session, nonce
		s.agent.publish(message.LeafReport, m)
	}
	return nil
}

// Events implements reports.Sender.
func (s *sender) Events() time.Duration { return s.backlog.send(s.agent) }

var _ reports.Sender = (*sender)(nil)
