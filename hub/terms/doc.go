// Package terms knows which agent serves a rack. Each agent that joins a rack has its own term there; a term
// that is over is never given again, and how it ended is kept for ever.
package terms
