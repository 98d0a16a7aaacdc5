// Package holds has the lane of holds: it makes the hold document of each rack, takes over holds that agents
// enforce and nobody here knows, and removes those that agents have released.
//
// A rack's hold document has turns of its own, so that a hold waits for nothing else of its rack; they are also the
// one place where a hold is removed. A hold or a release that must not overtake what the rack's own document says
// waits until that one was acknowledged.
package holds
