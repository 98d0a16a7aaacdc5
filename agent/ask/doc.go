// Package ask is the room of the hub's questions: what a BMC says of itself, and what was seen
// of a power-on. A question has a deadline, is answered once, and waits for no server's loop.
package ask
