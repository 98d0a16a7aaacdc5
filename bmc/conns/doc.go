// Package conns carries HTTP exchanges with one BMC over connections that cost little while they
// wait. An agent has two for each BMC, which are silent most of the time; net/http has two
// goroutines and two buffers for each. Here an exchange is carried by its caller's goroutine, and
// a connection that waits is a socket, its TLS and a timer. A BMC that speaks HTTP/2 is left to
// net/http, from the first handshake that says so.
package conns
