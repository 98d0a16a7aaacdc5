// Package stream is the room of what BMCs say by themselves: their event streams, and
// the subscriptions of those that have none, which send events to the agent's HTTP
// server. An event says nothing that counts: it only makes the next read come sooner.
//
// Goroutines: two for each BMC, and one that waits for them. They end with the driver
// that they read through.
package stream
