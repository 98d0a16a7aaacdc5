// Package condition says which conditions people are shown.
package condition
