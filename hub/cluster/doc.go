// Package cluster connects the hub to NATS servers of the user's own, on which it keeps its store in place of the server
// within its process (package broker).
//
// The connection goes on to another server by itself when one ends, for as long as the hub runs. Calls wait meanwhile:
// package jetstream sends again what was not answered.
package cluster
