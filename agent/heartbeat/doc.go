// Package heartbeat says to the other agent of a rack that this one lives, on the segments that both have, and notes
// since when that one is heard. Nothing is decided by it at the agent: the hub is told, and may fail over by it.
//
// Goroutines, all ended by the context given to Run: one that sends, and one for each line that receives.
package heartbeat
