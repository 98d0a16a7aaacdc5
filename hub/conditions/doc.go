// Package conditions keeps what the hub itself sees of objects, as conditions that are so, each with the
// time since when it is. What a turn says of its objects replaces what it said before.
package conditions
