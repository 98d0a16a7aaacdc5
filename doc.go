// Package rackboot is the root of the module. It holds no code, only the tests
// that guard the tree: who may import whom, which packages are pure, and the
// habits of CONTRIBUTING.md that a machine can see.
package rackboot
