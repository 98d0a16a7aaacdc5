// Package bulk does one thing to several resources: never to more than somebody expects, and not on and
// on once it fails.
package bulk
