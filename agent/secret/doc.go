// Package secret opens the credentials that the hub sealed for this agent, and encrypts
// them before they are kept.
//
// Both keys come from one X25519 private key in the agent's identity folder. What that
// protects: a copy of the agent's database, in a backup or on a disk that was sent in,
// shows no credentials without a copy of the identity folder. What it does not: whoever
// reads both, or the agent's memory, has them.
package secret
