// Package doctable holds functions to the tables in their comments, for tests. A table
// has its columns between bars, its head first; "*" fits anything, and the first row
// that fits decides.
package doctable
