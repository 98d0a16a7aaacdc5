// Package labels finds names by labels, so that a selector need not be compared with everything. It is pure: whoever has
// an Index changes it, and keeps others from it meanwhile.
package labels
