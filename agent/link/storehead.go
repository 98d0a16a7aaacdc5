package link

import "rackboot/protocol/message"

// storeHead is what the hub is told of how far the store has come. In guard mode nothing is: the
// store cannot be read, or another one is in its place. Until the hub has answered nothing is but in a
// Hello, which has what there was at the start.
func (r *Room) storeHead() message.StoreHead {
	switch {
	case r.on.guards(), !r.session.hasMet():
		return message.StoreHead{}
	}
	return r.cfg.Store.Head().Word()
}

// greetingHead is that of a Hello.
func (r *Room) greetingHead() message.StoreHead {
	if !r.session.hasMet() && !r.on.guards() {
		return r.beganHead
	}
	return r.storeHead()
}
