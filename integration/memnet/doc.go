// Package memnet is a network in memory for tests: listeners and connections
// with buffers and deadlines, made of locks and timers only. It works inside a
// testing/synctest bubble, where net.Pipe makes two peers hang that both write
// first, and real sockets stop the clock.
package memnet
