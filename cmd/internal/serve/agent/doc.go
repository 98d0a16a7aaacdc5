// Package agent is the command line of rackboot-agent.
package agent
