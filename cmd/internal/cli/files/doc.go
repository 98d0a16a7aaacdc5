// Package files reads what rackctl's commands are given besides arguments, and writes files that must
// not take the place of others.
package files
