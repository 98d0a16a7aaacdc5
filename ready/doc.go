// Package ready finds out by trying whether a daemon can do its work: its probe writes
// to the daemon's store and reads that again.
//
// Whoever asks shares one answer. At most one probe runs at a time, an answer is given
// for [Fresh], and nobody waits longer than [Within]: asking often costs no more than
// one probe a second, and a store that hangs holds nobody up.
package ready
