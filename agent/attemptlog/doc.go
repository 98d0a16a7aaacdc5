// Package attemptlog gives lines of the log about a server the attempt that is under way there, and its trace ID. It
// does so in one place, for whoever writes them: who logs names the server only.
package attemptlog
