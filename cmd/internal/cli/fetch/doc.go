// Package fetch brings what is at a URL into rackctl's cache, and goes on with what is there of
// it.
package fetch
