// Package sealing is what the rooms share that seal secrets for agents: the vault that opens them, and the
// count of what was sealed.
package sealing
