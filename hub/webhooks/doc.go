// Package webhooks tells other programs by HTTP what happened: each event of the hub's log that a hook asks
// for, as a CloudEvent (CloudEvents 1.0, structured JSON), signed by Standard Webhooks.
//
// Each hook has a goroutine of its own, and a place in the log that is kept in the store: up to there
// everything was taken, given up or not asked for. An event is sent again until it is taken, so that it
// may come more than once, always with the same id; the next one waits for it. What a receiver refuses
// for good, or does not take in the time that is set, goes into the dead letters of the hook, which are
// bounded, and can be sent again by somebody's word. What the log had no more when its turn came is
// told by an event of its own.
//
// Only a hub that writes its store sends. One that was taken over, or lost something, does not.
package webhooks
