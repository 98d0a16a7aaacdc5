// Package trial is the room of segments that a document changed: they are tried until
// the hub is heard after the change, or are rolled back, because a change of segments
// can cut the agent off from the hub that could take it back.
//
// One goroutine looks at the trial while there is one; Run ends it.
package trial
