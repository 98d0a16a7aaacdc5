// Package ask is the room of the hub's questions: what a BMC says of itself, what was seen
// of a power-on, and what there is of package repositories. A question has a deadline, is answered once, and waits for no server's loop.
package ask
