// Package path finds fields of resources by kubectl's JSONPath: .status.phase. It is the one
// package of rackctl that knows a library for it.
package path
