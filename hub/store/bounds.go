package store

import "strings"

const (
	// Tries is how often a write is tried that other writers overtook.
	Tries = 5
	// MaxReason bounds a reason in bytes.
	MaxReason = maxReason
)

// AnnotationReleasedWith is the annotation of a hold that was released because
// something else was deleted: Claim/NAME.
const AnnotationReleasedWith = "rackboot/released-with"

// maxReason bounds a reason in bytes.
const maxReason = 1024

// validToken says whether s may be the last level of a key; see state.KV.
func validToken(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_=-") == ""
}
