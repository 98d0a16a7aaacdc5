// Package trace asks the agent of a server's rack what it saw of a power-on, and what it sees now.
package trace
