// Package link is the room that speaks with the hub: sessions and Hellos, what the hub
// says and how fresh that is, its time, whose signatures count, and what of an answer
// is still to come. Reports and events go out through it.
//
// Documents are verified here and put in force by Heard, the only interface that goes up.
//
// The greeter's goroutine says Hello and looks at the clocks; Run ends it. Receive is
// called from the connection's.
package link
