// Package once has what many values say in the same words be in memory once.
//
// Of 50,000 servers each has its own copy of what it says as a thousand others do: how far it is, its rack, its labels,
// what its BMC can do. Whoever keeps such a value for long passes it through a [Table] first.
package once
