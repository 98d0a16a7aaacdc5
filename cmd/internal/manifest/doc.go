// Package manifest reads the files that people give to rackctl apply: YAML or
// JSON with one or more resources. It is strict. Unknown fields, keys that are
// given twice, wrong types, unknown words, anchors and tags are errors, each
// with file, line and path, and all of them are reported at once.
//
// The resources have json tags only. A file is walked as a syntax tree next to
// the Go type that it shall become, so that each path has its line and each
// scalar its type before anything is decoded.
//
// It is the one package of rackctl that knows a YAML library.
package manifest
