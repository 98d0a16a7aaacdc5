// Package cli is rackctl: one file per command, one printer for all output, and
// kubectl's habits. Everything that goes wrong is a *protocol.Error, which
// decides the exit code and the hint.
package cli
