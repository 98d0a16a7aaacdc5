//go:build race

package cures

// raced says that the race detector is on, which makes everything slow: then only presets with rows are tried.
const raced = true
