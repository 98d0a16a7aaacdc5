//go:build !race

package cures

const raced = false
