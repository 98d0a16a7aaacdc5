package link

import (
	"rackboot/agent/store"
	"rackboot/protocol/message"
)

// storeHeads is what the hub is told of how far the store has come.
type storeHeads struct {
	store  *store.Store
	guards func() bool
	began  message.StoreHead // before the first start since which no hub has answered
}

func newStoreHeads(s *store.Store, guards func() bool) (h storeHeads, err error) {
	h = storeHeads{store: s, guards: guards}
	h.began, err = s.Events.BeganHead()
	return h, err
}

// now is what is said beside other things. In guard mode that is nothing: the store cannot be read, or
// another one is in its place. Until the hub has answered it is nothing too.
func (h storeHeads) now(met bool) message.StoreHead {
	if h.guards() || !met {
		return message.StoreHead{}
	}
	return h.store.Head().Word()
}

// greeting is what is said in a Hello.
func (h storeHeads) greeting(met bool) message.StoreHead {
	if !met && !h.guards() {
		return h.began
	}
	return h.now(met)
}
