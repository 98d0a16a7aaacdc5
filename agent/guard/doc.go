// Package guard is what an agent goes on by when it has no store that it can write to, and
// whether it has none: guard mode.
//
// The guard set is the part of the store that guarding needs, on disk beside it in a pair of
// slots (package state/slots): the holds, and for each held server how its BMC is reached, with
// the credentials encrypted as the store keeps them. A hold is in the slots before it is in the
// store, and a release is in the store before it leaves the slots; so the slots never have fewer
// holds than the store. One that is not known to be in the store says that it is coming. That the agent stands by is
// in the slots first too, and that it serves in the store first.
//
// [Guard.Store] watches the store: the first write that fails, or read, begins guard mode, and
// from then on the store takes no write until [Guard.Attempt] shows that it can be written again. Where the store cannot even be opened, [Freeze] makes one in its
// place of the guard set, which is read only. [Verdict] says what to make of the two at the start.
//
// What happens in guard mode is in memory, in an overlay for each server, which the server's next
// step folds into its record.
package guard
