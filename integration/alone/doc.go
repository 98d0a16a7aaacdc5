// Package alone tests an agent that has nobody but its machines: the real agent with
// its real sockets in a network namespace, a simulated machine with real packets in
// another, and a network between them that is cut, full of other packets, or has an intruder
// on it.
package alone
