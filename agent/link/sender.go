package link

import (
	"time"

	"rackboot/agent/reports"
	"rackboot/protocol/message"
)

// Report implements reports.Sender.
func (r *Room) Report(all []message.Report) error {
	in, err := r.on.applied()
	if err != nil {
		r.cfg.Logger.Error("cannot read what is applied", "err", err)
		return err
	}
	session, nonce := r.session.names()
	head := r.heads.now(r.session.hasMet())
	for _, m := range all {
		m.Incarnation, m.Applied, m.Fence, m.Session, m.Nonce = in.Incarnation, in.Heads, in.Fence, session, nonce
		m.StoreHead = head
		r.publish(message.LeafReport, m)
	}
	return nil
}

// Events implements reports.Sender.
func (r *Room) Events() time.Duration { return r.backlog.send(r) }

var _ reports.Sender = (*Room)(nil)
