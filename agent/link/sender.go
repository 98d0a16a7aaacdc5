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
	var beats []message.HeardBeat
	if r.cfg.Beats != nil {
		beats = r.cfg.Beats()
	}
	head := r.heads.now(r.session.hasMet())
	for _, m := range all {
		m.Incarnation, m.Applied, m.Fence, m.Session, m.Nonce = in.Incarnation, in.Heads, in.Fence, session, nonce
		m.Beats, m.StoreHead = beats, head
		r.publish(message.LeafReport, m)
	}
	return nil
}

// Events implements reports.Sender.
func (r *Room) Events() time.Duration { return r.backlog.send(r) }

var _ reports.Sender = (*Room)(nil)
