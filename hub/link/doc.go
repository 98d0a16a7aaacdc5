// Package link speaks with the agents: it greets them, gives their documents versions and sends them until they
// are acknowledged, takes what they say, and asks them.
//
// An agent is heeded within a session that its nonce has shown to be the present one. What of its words counts for
// others goes to [Heard]; its last reports are kept in package reports. What was sent and acknowledged is in the
// agent's ledger, which is in the store; everything else is known of this run only.
//
// [Room] is the door. Behind it, each knowing those before it: sender, which seals and sends; [Ledgers];
// sessions, which tells what counts from what is of the past; delivery, which sends documents until they are
// acknowledged; hearing, which does what messages ask for. What is known of one agent is its contact.
package link
