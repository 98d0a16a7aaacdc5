// Package link speaks with the agents: it greets them, gives their documents versions and sends them until they
// are acknowledged, takes what they say, and asks them.
//
// An agent is heeded within a session that its nonce has shown to be the present one. What of its words counts for
// others goes to [Heard]; its last reports are kept in package reports. What was sent and acknowledged is in the
// agent's ledger, which is in the store; everything else is known of this run only.
package link
