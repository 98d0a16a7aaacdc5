// Package firsthour knows which pages are run as a newcomer runs them: every shell block that
// is not marked as an example, in order, in one shell, from an empty folder with an empty
// home. Its tests run them, in a network namespace.
package firsthour
