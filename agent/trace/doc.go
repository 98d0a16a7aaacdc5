// Package trace is the room of what was seen of power-ons: what the loop of a server
// did, what clients asked the boot servers, what images reported. Nothing is decided by
// it: whatever is missing costs people a line. It is written to the disk beside
// everything else, and whoever records does not wait.
//
// One goroutine makes the traces, from a bounded queue; Run ends it.
package trace
