// Package kinds has how resources of each kind are shown: their columns in tables, what a description
// has besides, and their conditions. It is one table with a row for each kind.
package kinds
