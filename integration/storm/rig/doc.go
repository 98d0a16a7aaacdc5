// Package rig runs a site as processes, and damages it: hub, agent and one process for each
// simulated machine with its BMC. Between hub and agent, and between agent and BMCs, stand
// proxies of the rig's own, which cut, delay and spoil what passes.
//
// Everything is on loopback. Each machine has a network of its own: a segment whose DHCP and
// HTTP servers the agent has on addresses of that machine. All processes end with the rig's.
package rig
