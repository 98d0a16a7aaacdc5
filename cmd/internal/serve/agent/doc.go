// Package agent is the command line of rackboot-agent: the daemon itself, and the
// commands that ask a running one over its socket.
package agent
