// Package fleet is an agent's side of the link without a rack, as many times as wanted in
// one process: a load for the hub, which nobody should take for an agent.
//
// What is real is what the hub sees of it: resources, tokens, certificates, TLS, MQTT,
// signed messages, sessions, and the documents' heads, fences and terms. What is not there
// is everything that the hub does not see: BMCs, packets, images and a database. A server
// is a few fields in memory (see the table in server.go), and what an agent would read of
// it is made up.
//
// # Goroutines
//
//	link       those of protocol/link, per agent
//	run        one per agent: owns all of it
//	news       one, if there are news
//	holds      one, and one for each hold that is under way
package fleet
