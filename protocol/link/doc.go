// Package link keeps one MQTT 3.1.1 connection to a broker and moves bytes over
// it: the only user of the paho library.
//
// A link guarantees nothing. Messages are lost when the connection is, or when
// the reader is too slow; the ends resend and compare versions instead. So a
// session is clean, nothing is retained, the QoS is 0 by default, and each
// connection has a random client id: who the peer is, its certificate says.
//
// # Goroutines
//
//	Run        connects, waits for the end of the connection, backs off
//	dispatch   calls OnMessage, one message at a time in order of arrival
//	connected  calls OnConnect, once per connection
//	writer     hands messages to paho, one per connection
//
// paho's reader only pushes to the queue of dispatch. When the queue is full,
// the oldest message is dropped and counted.
package link
