// Package listeners has the tests that hold for everything that listens.
package listeners
