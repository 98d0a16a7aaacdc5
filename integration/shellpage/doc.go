// Package shellpage finds the code blocks of a page in Markdown, and runs its shell commands
// as a reader does: one after the other, in one shell.
package shellpage
