// Package upgrade is a room of the agent: it runs another release of itself when the hub orders it, and a key of the agent's
// own file signed that release. The hub says when, the publisher says what.
//
// An order is fetched, verified, put into the slot that does not run, and waits until a restart loses nothing; see allowed. Then
// the trial is put on disk, and Run ends: the launcher starts the release, and the one before when the hub does not answer it.
// What became of an order is on disk with its name, so that it is tried once; see package installed.
//
// Between the last look at the rack and the end of the process something may begin that would have been waited for. That is a
// restart as any other: whatever was begun is on disk, and is gone on with.
package upgrade
