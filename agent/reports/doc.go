// Package reports is the room of what the agent says of itself and its servers: what
// the last step of each server came to, and the conditions of the agent. It gathers
// changes, bounds how often a shard is reported, and lets what a hold has come to go
// first. It knows no link: a Sender sends.
//
// One goroutine gives the sender what is due; Run ends it.
package reports
