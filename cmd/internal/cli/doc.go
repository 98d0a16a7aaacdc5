// Package cli is rackctl: its groups of verbs, each a package below, put together with kubectl's
// habits. Everything that goes wrong is a *protocol.Error, which decides the exit code and the hint.
package cli
