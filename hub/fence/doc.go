// Package fence knows which start of a hub is the newest on its store, and the epoch of the documents
// that are made from it.
//
// Each start takes the next number; the message [message.Fence] carries it to the agents, which
// follow the newest they have heard of. A hub whose store has lost something takes no number: it makes, sends and
// writes nothing, as if it were not there, until an operator has decided. A hub that learns of a newer one, from an agent or from the
// store, steps down: it makes and sends nothing any more until it is started again. The epoch rises
// when a store is restored from a copy, so that agents take its documents for newer than those of
// the lost store.
package fence
