// Package guard holds the tests that guard the tree: who may import whom, which packages are
// pure, how large a type and a circle of files may be, and the habits of CONTRIBUTING.md that a machine can
// see. They run at the root of the module, and name files from there.
package guard
