// Package mirrors asks the agent of a rack what it has of package repositories, and has it forget
// that.
package mirrors
