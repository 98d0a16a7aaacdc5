package store

const (
	// Tries is how often a write is tried that other writers overtook.
	Tries = 5
	// MaxReason bounds a reason in bytes.
	MaxReason = maxReason
)
