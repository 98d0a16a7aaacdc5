package link

import (
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// End takes the hub's sealed word that this agent's term is over, and keeps it: from
// then on nothing is served, and no BMC is written to or read. Holds stay on disk as
// they are. Errors: denied for a word that is not the hub's or not about this agent.
func (r *Room) End(sealed []byte) error {
	const op = "end the term"
	var m message.EndOfTerm
	if err := wire.Open(r.Verifier(), wire.FactEndOfTerm, sealed, &m); err != nil {
		return err
	}
	in, err := r.cfg.Store.Documents.Applied()
	if err != nil {
		return err
	}
	if !decide.EndedBy(m, r.cfg.Agent, in.Term) {
		return protocol.Errorf(protocol.CodeDenied, op, "the word is about agent %s, term %d, %s", m.Agent, m.Term, m.Code)
	}
	news, err := r.cfg.Store.Term.End(m)
	if err != nil {
		return r.cfg.Reports.StoreTrouble(err)
	}
	r.over.Store(&m)
	if !news {
		return nil
	}
	r.cfg.Logger.Error("the hub has ended the term of this agent", "code", m.Code, "at", m.At)
	if err := r.cfg.Heard.Changed(); err != nil {
		return r.cfg.Reports.StoreTrouble(err)
	}
	r.cfg.Reports.Raise(m.Code, endedWhen(m))
	r.cfg.Heard.LookAtAll()
	r.cfg.Reports.PokeAll()
	return nil
}

// Over says whether the hub has ended the agent's term, or another agent of the same disk goes on.
func (r *Room) Over() bool { return r.over.Load() != nil || r.aside.over() }

// copied takes the hub's word of copies of this disk.
func (r *Room) copied(m message.Copied, incarnation string) {
	act, err := r.aside.hears(m, incarnation, r.on.guards(), r.cfg.Clock())
	if act == decide.AsideNothing {
		return
	}
	if err != nil {
		r.cfg.Logger.Error("cannot record what the hub says of copies of this disk", "err", err)
		r.cfg.Reports.Raise(resource.CondGuardMode, err.Error())
	}
	r.cfg.Logger.Error("the hub has heard another agent of the same disk", "does", act)
	r.aside.say(r.cfg, r.on)
	switch act {
	case decide.AsideGiveUp:
		r.dismissed.Store(true)
	case decide.AsideTake:
		if err == nil {
			r.clock.forget()
			r.session.renew(r.cfg.NewID(), nil) // what answers the present one may be of before
		}
	case decide.AsideNothing, decide.AsideStand:
	}
	if err := r.cfg.Heard.Changed(); err != nil {
		r.cfg.Logger.Error("cannot read what is on disk", "err", err)
	}
	r.cfg.Heard.LookAtAll()
	r.session.want()
	r.greeter.fresh() // each is heard of once
	r.cfg.Reports.PokeAll()
}

// arrive goes on with a disk that may be a copy, or in a rack that another agent may have taken over, once it has waited for
// word of that.
func (r *Room) arrive() {
	on, err := r.aside.arrived(r.cfg.Clock())
	if err != nil {
		r.cfg.Logger.Error("cannot record where the disk is", "err", err)
	}
	if !on {
		return
	}
	r.cfg.Reports.Clear(resource.CondAwaitingHub)
	if err := r.cfg.Heard.Changed(); err != nil {
		r.cfg.Logger.Error("cannot read what is on disk", "err", err)
	}
	r.cfg.Heard.LookAtAll()
}

func endedWhen(m message.EndOfTerm) string {
	return fmt.Sprintf("term %d ended at %s", m.Term, m.At.UTC().Format(time.RFC3339))
}
