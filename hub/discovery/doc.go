// Package discovery moves discoveries along: a new server boots an image that says what it is made of, what was found
// is stored, and only then the server is Available.
package discovery
