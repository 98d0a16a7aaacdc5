// Package upgrades has agents run another release of themselves, in waves as package plan/rollout says. A rack is a
// member, by its active agent; one that stands by is upgraded before it, since nothing hangs on it.
//
// The status of a roll-out is stored before anything follows from it. An order is stored with its agent, from where it
// gets into the agent's document and stays until it has ended. An agent is given one order at a time, and each once.
package upgrades
