// Package contents keeps what is uploaded, and what the hub's registry has, on the servers of the hub's store, by its SHA-256, so that every hub on that
// store has it and the host of one may be lost. A hub whose store is in its folder has none of it.
//
// # The book
//
// A record in the store ([store.Content]) says what the servers have of a content. A name is written in one commit with
// the record, or a program's record after its package; the pieces are on the servers before. Who removes a content first
// writes into its record that it goes, at the revision that it judged by. So of one who gives a content a name and one who
// removes it, the second to write is refused by the store, however long one of the two was stopped: the namer puts the
// content there again, and the remover looks again who needs it.
//
//	uploader on one hub                  the hub that works the site
//	record: coming, or whole
//	pieces, those that are not there     a record that nobody needs, unchanged for 10 min
//	record: whole  ──────────────────────┐
//	name + record, touched ◄─ one wins ─►│ record: going
//	                                     │ pieces removed
//	                                     └ record removed
//
// # What a hub does by itself
//
// It fetches what is named and not in its folder, two contents at once, and puts there what is named, in its folder, and
// not on the servers: after a move to servers, and where pieces were lost. Each content waits longer after each failure.
//
// Goroutines: one, of [Room.Run], and one for each content that is fetched or put, at most [maxFetches] and [maxStores].
package contents
